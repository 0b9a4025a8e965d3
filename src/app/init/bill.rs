//! Question about the bill: a cap on what models may cost.

use super::dialogue::Dialogue;
use super::draft::SettingsDraft;
use super::reach::{PROVIDER, address};
use crate::app::failure::StartupError;
use crate::app::place::is_here;
use crate::app::terminal::say;
use figaro_config::Settings;
use figaro_domain::model::ModelName;
use figaro_domain::provider_spec::VariableRole;
use figaro_provider::price::Prices;

const DOLLARS: &str = "DAILY_USD";
const TOKENS: &str = "DAILY_TOKENS";
/// Days of the longest month.
const DAYS: f64 = 31.0;
/// Offered cap where the price is known, in US dollars a month.
const DOLLARS_A_MONTH: &str = "10";
/// Offered cap where the price is unknown, in tokens a day.
const TOKENS_A_DAY: &str = "500000";
/// Smallest cap that leaves room for a few answers, in tokens a day.
const LEAST_TOKENS: u64 = 50_000;
/// Answer that sets no cap.
const NO_CAP: &str = "0";

/// Asks for a cap unless one is set or the model runs on this machine. The bot stops for the day when it is reached.
///
/// # Errors
/// When the dialogue ends.
pub(super) async fn ask(dialogue: &mut Dialogue, draft: &mut SettingsDraft) -> Result<(), StartupError> {
    let Some(model) = paid_model(draft) else { return Ok(()) };
    if let Some(name) = [DOLLARS, TOKENS].into_iter().find(|name| draft.get(name).is_some()) {
        say(&format!("\n4. The bill: {name} is {}, and stays.", draft.get(name).unwrap_or_default()));
        return Ok(());
    }
    if is_priced(draft, &model) {
        say("\n4. The bill. Figaro stops for the day once it has spent a thirty-first of this sum.");
        let question = format!("US dollars a month, {NO_CAP} for no cap [{DOLLARS_A_MONTH}]:");
        capped(dialogue, draft, &question, DOLLARS_A_MONTH, dollars).await
    } else {
        say(&format!(
            "\n4. The bill. Figaro does not know what {model} costs, so it counts tokens and stops for the day."
        ));
        let question = format!("Tokens a day, {NO_CAP} for no cap [{TOKENS_A_DAY}]:");
        capped(dialogue, draft, &question, TOKENS_A_DAY, tokens).await
    }
}

/// A cap as a variable with its value, and the line that confirms it.
type Cap = (&'static str, String, String);

/// Asks until `read` makes a cap of the answer.
async fn capped(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    question: &str,
    offered: &str,
    read: fn(&str) -> Result<Cap, &'static str>,
) -> Result<(), StartupError> {
    loop {
        let text = dialogue.ask(question).await?.unwrap_or_else(|| offered.to_owned());
        if text == NO_CAP {
            say("! No cap. `/usage` in a chat shows what is spent.");
            return Ok(());
        }
        match read(&text) {
            Ok((name, value, told)) => {
                draft.set(name, &value);
                say(&told);
                return Ok(());
            }
            Err(words) => say(words),
        }
    }
}

/// Makes a daily cap of US dollars a month, rounded down to cents.
fn dollars(text: &str) -> Result<Cap, &'static str> {
    let text = text.trim_start_matches('$').trim();
    // A comma before three digits may mean thousands.
    let is_unclear = text.split_once(',').is_some_and(|(_, rest)| rest.len() == 3);
    let amount = text.replace(',', ".").parse::<f64>().ok().filter(|_| !is_unclear);
    let cents = amount
        .filter(|amount| amount.is_finite() && *amount >= 0.0)
        .map(|amount| (amount * 100.0 / DAYS).floor());
    match cents {
        None => Err("✗ Type a number of US dollars, such as 10."),
        Some(cents) if cents < 1.0 => Err("✗ That is less than a cent a day."),
        Some(cents) => {
            let (day, month) = (format!("{:.2}", cents / 100.0), cents * DAYS / 100.0);
            let told = format!("✓ At most ${day} a day ({DOLLARS}), ${month:.2} in a month of 31 days.");
            Ok((DOLLARS, day, told))
        }
    }
}

fn tokens(text: &str) -> Result<Cap, &'static str> {
    let mut groups = text.split([' ', '_', ',', '.']);
    let first = groups.next().unwrap_or_default().to_owned();
    let (first, is_whole) =
        groups.fold((first, true), |(all, fits), group| (all + group, fits && group.len() == 3));
    let count = first.parse::<u64>().ok().filter(|_| is_whole);
    let count = count.ok_or("✗ Type a whole number of tokens, such as 500000.")?;
    if count < LEAST_TOKENS {
        return Err("✗ That is too little for a day of answers: type 50000 or more.");
    }
    let count = count.to_string();
    let told = format!("✓ At most {count} tokens a day ({TOKENS}).");
    Ok((TOKENS, count, told))
}

/// Returns the chosen model, unless it runs on this machine.
fn paid_model(draft: &SettingsDraft) -> Option<ModelName> {
    let provider = draft.get(PROVIDER)?;
    let spec = draft.variables.providers().iter().find(|spec| spec.name.eq_ignore_ascii_case(&provider))?;
    if is_here(&address(draft, spec)) {
        return None;
    }
    let variable = spec.variable(VariableRole::Model)?;
    let model = draft.get(variable.name).unwrap_or_else(|| variable.default.to_owned());
    Some(ModelName { provider: spec.name.to_owned(), model })
}

fn is_priced(draft: &SettingsDraft, model: &ModelName) -> bool {
    // Faults elsewhere are told at the end of the setup.
    let own = Settings::without_bot(&draft.all(), &draft.variables).map(|settings| settings.spending.prices);
    Prices::new(own.unwrap_or_default()).of(model).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_monthly_sum_becomes_a_daily_cap_that_keeps_it() {
        let cases = [
            ("10", Some("0.32")),
            ("$ 10", Some("0.32")),
            ("0,31", Some("0.01")),
            ("3100", Some("100.00")),
            ("0.3", None),
            ("-5", None),
            ("NaN", None),
            ("inf", None),
            ("ten", None),
            ("1,000", None),
            ("12,50", Some("0.40")),
        ];
        for (text, wanted) in cases {
            let cap = dollars(text).ok().map(|(_, value, _)| value);
            assert_eq!(cap.as_deref(), wanted, "{text}");
        }
        assert_eq!(tokens("1_000 000").unwrap().1, "1000000");
        assert!(tokens("50000.00").is_err() && tokens("50.00").is_err());
        assert!(tokens("many").is_err() && tokens("49999").is_err() && tokens("50000").is_ok());
    }
}
