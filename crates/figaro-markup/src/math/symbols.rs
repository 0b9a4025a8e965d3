//! LaTeX commands that stand for a character or a word, as data. Looked up by [`mod@super::parse`].

use super::layout::MathRole;

/// Commands for a single sign or word, by role. Each list alternates a name and its text.
const SIGNS: [(MathRole, &str); 6] = [
    (MathRole::Atom, ATOMS),
    (MathRole::Binary, BINARY),
    (MathRole::Relation, RELATIONS),
    (MathRole::Function, FUNCTIONS),
    (MathRole::Open, OPENING),
    (MathRole::Close, CLOSING),
];

const ATOMS: &str = "\
    alpha α  beta β  gamma γ  delta δ  epsilon ϵ  varepsilon ε  zeta ζ  eta η  theta θ  vartheta ϑ  iota ι  \
    kappa κ  lambda λ  mu μ  nu ν  xi ξ  omicron ο  pi π  varpi ϖ  rho ρ  varrho ϱ  sigma σ  varsigma ς  \
    tau τ  upsilon υ  phi φ  varphi φ  chi χ  psi ψ  omega ω  Gamma Γ  Delta Δ  Theta Θ  Lambda Λ  Xi Ξ  \
    Pi Π  Sigma Σ  Upsilon Υ  Phi Φ  Psi Ψ  Omega Ω  infty ∞  partial ∂  nabla ∇  forall ∀  exists ∃  \
    nexists ∄  neg ¬  lnot ¬  emptyset ∅  varnothing ∅  hbar ħ  ell ℓ  Re ℜ  Im ℑ  aleph ℵ  wp ℘  imath ı  \
    jmath ȷ  angle ∠  triangle △  square □  Box □  blacksquare ■  qed ∎  dots …  ldots …  cdots ⋯  vdots ⋮  \
    ddots ⋱  dotsc …  dotsb ⋯  prime ′  circ ∘  degree °  top ⊤  bot ⊥  dagger †  checkmark ✓  % %  $ $  \
    # #  & &  _ _  vert |  Vert ‖  | ‖  euro €  pounds £  star ⋆";

const BINARY: &str = "\
    times ×  cdot ·  div ÷  pm ±  mp ∓  ast ∗  cup ∪  cap ∩  setminus ∖  wedge ∧  land ∧  vee ∨  lor ∨  \
    oplus ⊕  ominus ⊖  otimes ⊗  odot ⊙  bullet •  bmod mod";

const RELATIONS: &str = "\
    le ≤  leq ≤  leqslant ≤  ge ≥  geq ≥  geqslant ≥  ne ≠  neq ≠  lt <  gt >  ll ≪  gg ≫  approx ≈  sim ∼  \
    simeq ≃  cong ≅  equiv ≡  propto ∝  coloneqq :=  in ∈  notin ∉  ni ∋  subset ⊂  subseteq ⊆  subsetneq ⊊  \
    supset ⊃  supseteq ⊇  to →  rightarrow →  longrightarrow →  leftarrow ←  gets ←  longleftarrow ←  \
    leftrightarrow ↔  Rightarrow ⇒  Longrightarrow ⇒  implies ⇒  Leftarrow ⇐  impliedby ⇐  Leftrightarrow ⇔  \
    Longleftrightarrow ⇔  iff ⇔  mapsto ↦  longmapsto ↦  uparrow ↑  downarrow ↓  hookrightarrow ↪  \
    rightharpoonup ⇀  rightleftharpoons ⇌  perp ⊥  parallel ∥  models ⊨  vdash ⊢  prec ≺  succ ≻  colon :  \
    asymp ≍  nmid ∤  nsubseteq ⊈  lesssim ≲  gtrsim ≳  triangleq ≜  doteq ≐  mid |  therefore ∴  because ∵";

const FUNCTIONS: &str = "\
    sum ∑  prod ∏  coprod ∐  int ∫  iint ∬  iiint ∭  oint ∮  bigcup ⋃  bigcap ⋂  bigoplus ⨁  bigotimes ⨂  \
    bigwedge ⋀  bigvee ⋁  sin sin  cos cos  tan tan  cot cot  sec sec  csc csc  arcsin arcsin  \
    arccos arccos  arctan arctan  sinh sinh  cosh cosh  tanh tanh  coth coth  log log  ln ln  lg lg  \
    exp exp  lim lim  limsup limsup  liminf liminf  max max  min min  sup sup  inf inf  arg arg  \
    argmax argmax  argmin argmin  det det  dim dim  ker ker  deg deg  gcd gcd  lcm lcm  hom hom  Pr Pr  \
    tr tr";

const OPENING: &str = "\
    { {  lbrace {  lbrack [  langle ⟨  lfloor ⌊  lceil ⌈  lvert |  lVert ‖";

const CLOSING: &str = "\
    } }  rbrace }  rbrack ]  rangle ⟩  rfloor ⌋  rceil ⌉  rvert |  rVert ‖";

/// Commands for a space, and for a wide one.
const SPACES: [&str; 8] = [",", ":", ";", " ", ">", "\n", "enspace", "thinspace"];
const WIDE_SPACES: [&str; 2] = ["quad", "qquad"];

/// Commands that only change the appearance, and take no argument.
const SILENT: &str = "\
    ! displaystyle textstyle scriptstyle limits nolimits nonumber notag hline left right middle big Big \
    bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm centering rm bf it allowbreak noindent / \
    mathstrut";

/// Commands whose single argument is shown as it is.
const PLAIN: &str = "\
    mathbf mathit mathsf mathtt boldsymbol bm underline overbrace underbrace boxed mathbin mathrel mathord \
    pmb cancel smash mathnormal ensuremath";

/// Commands whose single argument is text.
const WORDS: &str = "\
    text textbf textit textrm textsf texttt mathrm operatorname mbox emph ce";

/// Accents over a letter, as combining characters.
const ACCENTS: &str = "\
    bar \u{304} overline \u{305} hat \u{302} widehat \u{302} vec \u{20d7} overrightarrow \u{20d7} dot \u{307} \
    ddot \u{308} tilde \u{303} widetilde \u{303} acute \u{301} check \u{30c} breve \u{306}";

/// Letters of `\mathbb`, and those of `\mathcal` and `\mathscr` that every font has.
const DOUBLE: (&str, &str) = ("CHNPQRZEFKDAI1", "ℂℍℕℙℚℝℤ𝔼𝔽𝕂𝔻𝔸𝕀𝟙");
const SCRIPT: (&str, &str) = ("BEFHILMR", "ℬℰℱℋℐℒℳℛ");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MathCommand {
    Sign(MathRole, &'static str),
    Silent,
    Plain,
    Words,
    Accent(char),
    /// Shows its argument in another alphabet.
    Alphabet(&'static str, &'static str),
    Fraction,
    Binomial,
    Root,
    Not,
    /// Shows the last of two arguments.
    Second,
    /// Removed with its argument.
    Dropped,
    /// Shows its argument in parentheses, after this text.
    Aside(&'static str),
    Begin,
    /// Shows the first argument as a script of the second.
    Over {
        raised: bool,
    },
    /// Arrow with text on it.
    Arrow,
}

/// Returns the effect of a command; `None` if unknown.
pub(super) fn command(name: &str) -> Option<MathCommand> {
    let known = match name {
        "frac" | "dfrac" | "tfrac" | "cfrac" => MathCommand::Fraction,
        "binom" | "dbinom" | "tbinom" => MathCommand::Binomial,
        "sqrt" => MathCommand::Root,
        "not" => MathCommand::Not,
        "mathbb" | "Bbb" => MathCommand::Alphabet(DOUBLE.0, DOUBLE.1),
        "mathcal" | "mathscr" | "mathfrak" => MathCommand::Alphabet(SCRIPT.0, SCRIPT.1),
        "textcolor" => MathCommand::Second,
        "color" | "label" | "phantom" | "hspace" | "vspace" => MathCommand::Dropped,
        "pmod" => MathCommand::Aside("mod "),
        "tag" => MathCommand::Aside(""),
        "begin" => MathCommand::Begin,
        "overset" | "stackrel" => MathCommand::Over { raised: true },
        "underset" => MathCommand::Over { raised: false },
        "xrightarrow" => MathCommand::Arrow,
        _ => return listed(name),
    };
    Some(known)
}

fn listed(name: &str) -> Option<MathCommand> {
    let among = |list: &str| list.split_whitespace().any(|known| known == name);
    if SPACES.contains(&name) {
        return Some(MathCommand::Sign(MathRole::Space, " "));
    }
    if WIDE_SPACES.contains(&name) {
        return Some(MathCommand::Sign(MathRole::Space, "  "));
    }
    if among(SILENT) {
        return Some(MathCommand::Silent);
    }
    if among(PLAIN) {
        return Some(MathCommand::Plain);
    }
    if among(WORDS) {
        return Some(MathCommand::Words);
    }
    if let Some(mark) = second(ACCENTS, name) {
        return mark.chars().next().map(MathCommand::Accent);
    }
    SIGNS.iter().find_map(|(role, signs)| Some(MathCommand::Sign(*role, second(signs, name)?)))
}

/// Returns the text paired with a name in a list of pairs.
fn second(pairs: &'static str, name: &str) -> Option<&'static str> {
    let mut words = pairs.split_whitespace();
    while let (Some(known), Some(shown)) = (words.next(), words.next()) {
        if known == name {
            return Some(shown);
        }
    }
    None
}

/// Returns the role of a character that stands for itself.
pub(super) fn role(c: char) -> MathRole {
    match c {
        '+' | '-' | '*' | '±' | '×' | '·' | '÷' | '−' | '∪' | '∩' => MathRole::Binary,
        '=' | '<' | '>' | '≤' | '≥' | '≠' | '≈' | '→' | '⇒' | '⇔' | '∈' | '∼' | '≡' => {
            MathRole::Relation
        }
        ',' | ';' | ':' => MathRole::Comma,
        '(' | '[' => MathRole::Open,
        ')' | ']' => MathRole::Close,
        '/' => MathRole::Tight,
        '|' => MathRole::Bar,
        '∑' | '∏' | '∫' => MathRole::Function,
        _ => MathRole::Atom,
    }
}
