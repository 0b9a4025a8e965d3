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

const DOLLARS: &str = "MONTHLY_USD";
const TOKENS: &str = "MONTHLY_TOKENS";
const CAPS: [CapVariables; 2] =
    [CapVariables { month: DOLLARS, day: "DAILY_USD" }, CapVariables { month: TOKENS, day: "DAILY_TOKENS" }];
/// Share of a month that one day may use: a runaway day leaves the rest.
const DAYS: f64 = 10.0;
/// Offered cap where the price is known, in US dollars a month.
const DOLLARS_A_MONTH: &str = "10";
/// Offered cap where the price is unknown, in tokens a month.
const TOKENS_A_MONTH: &str = "5000000";
/// Smallest cap that leaves room for a few answers on each day, in tokens a month.
const LEAST_TOKENS: u64 = 500_000;
/// Answer that sets no cap.
const NO_CAP: &str = "0";

/// Asks for a cap unless one is set or the model runs on this machine. The bot stops for the day when it is reached.
///
/// # Errors
/// When the dialogue ends.
pub(super) async fn ask(dialogue: &mut Dialogue, draft: &mut SettingsDraft) -> Result<(), StartupError> {
    let Some(model) = paid_model(draft) else { return Ok(()) };
    let all = CAPS.iter().flat_map(|cap| [cap.month, cap.day]);
    if let Some(name) = all.into_iter().find(|name| draft.get(name).is_some()) {
        say(&format!("\n4. The bill: {name} is {}, and stays.", draft.get(name).unwrap_or_default()));
        return Ok(());
    }
    if is_priced(draft, &model) {
        say(
            "\n4. The bill. Figaro stops until the next month once it has spent this sum, and until the next day after a tenth of it.",
        );
        let question = format!("US dollars a month, {NO_CAP} for no cap [{DOLLARS_A_MONTH}]:");
        capped(dialogue, draft, &question, DOLLARS_A_MONTH, dollars).await
    } else {
        say(&format!(
            "\n4. The bill. Figaro does not know what {model} costs, so it counts tokens. It stops until the next month once it has used them, and until the next day after a tenth of them."
        ));
        let question = format!("Tokens a month, {NO_CAP} for no cap [{TOKENS_A_MONTH}]:");
        capped(dialogue, draft, &question, TOKENS_A_MONTH, tokens).await
    }
}

/// Variables of a cap.
struct CapVariables {
    month: &'static str,
    day: &'static str,
}

/// Variables with their values, and the line that confirms them.
type Cap = (Vec<(&'static str, String)>, String);

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
            Ok((values, told)) => {
                values.iter().for_each(|(name, value)| draft.set(name, value));
                say(&told);
                return Ok(());
            }
            Err(words) => say(words),
        }
    }
}

/// Makes a cap of US dollars a month and of a tenth of them a day, in cents.
fn dollars(text: &str) -> Result<Cap, &'static str> {
    let text = text.trim_start_matches('$').trim();
    // A comma before three digits may mean thousands.
    let is_unclear = text.split_once(',').is_some_and(|(_, rest)| rest.len() == 3);
    let amount = text.replace(',', ".").parse::<f64>().ok().filter(|_| !is_unclear);
    let cents =
        amount.filter(|amount| amount.is_finite() && *amount >= 0.0).map(|amount| (amount * 100.0).round());
    match cents {
        None => Err("✗ Type a number of US dollars, such as 10."),
        Some(cents) if cents < DAYS => Err("✗ That is less than a cent a day."),
        Some(cents) => {
            let amounts = [cents, (cents / DAYS).floor()].map(|cents| format!("{:.2}", cents / 100.0));
            Ok(both(&CAPS[0], amounts, |amount| format!("${amount}")))
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
        return Err("✗ That is too little for a month of answers: type 500000 or more.");
    }
    Ok(both(&CAPS[1], [count, count / 10].map(|count| count.to_string()), |count| format!("{count} tokens")))
}

fn both(
    &CapVariables { month, day }: &CapVariables,
    [of_month, of_day]: [String; 2],
    words: impl Fn(&str) -> String,
) -> Cap {
    let told = format!(
        "✓ At most {} a month ({month}) and {} of them a day ({day}).",
        words(&of_month),
        words(&of_day)
    );
    (vec![(month, of_month), (day, of_day)], told)
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
    fn a_monthly_sum_leaves_a_tenth_for_a_day() {
        let cases = [
            ("10", Some(["10.00", "1.00"])),
            ("$ 10", Some(["10.00", "1.00"])),
            ("0,31", Some(["0.31", "0.03"])),
            ("3100", Some(["3100.00", "310.00"])),
            ("0.09", None),
            ("-5", None),
            ("NaN", None),
            ("inf", None),
            ("ten", None),
            ("1,000", None),
            ("12,50", Some(["12.50", "1.25"])),
        ];
        let values = |cap: Cap| cap.0.into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        for (text, wanted) in cases {
            assert_eq!(
                dollars(text).ok().map(values),
                wanted.map(|all| all.map(str::to_owned).to_vec()),
                "{text}"
            );
        }
        assert_eq!(values(tokens("1_000 000").unwrap()), ["1000000", "100000"]);
        assert!(tokens("500000.00").is_err() && tokens("50.00").is_err());
        assert!(tokens("many").is_err() && tokens("499999").is_err() && tokens("500000").is_ok());
    }
}
