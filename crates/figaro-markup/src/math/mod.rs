//! LaTeX formulas as readable text: `x²`, `(a + b)/2`, `√(x + 1)`, matrices in rows. Called when a formula of an
//! answer is shown. Accepts any input; unknown parts stay as written.

mod layout;
mod parse;
mod rows;
mod scripts;
mod symbols;

/// Returns `true` if this is the name of a known environment.
pub(super) fn is_environment(name: &str) -> bool {
    parse::is_environment(name)
}

/// Renders a formula within a line.
pub(super) fn inline(latex: &str) -> String {
    layout::joined(&parse::items(latex), false).trim().to_owned()
}

/// Renders a formula on its own lines. The flag is `true` if its columns align only in monospace; it is then at most
/// `width` wide.
pub(super) fn display(latex: &str, width: usize) -> (String, bool) {
    let (text, aligned) = layout::lines(&parse::items(latex), width);
    let text = if aligned { text } else { text.lines().map(str::trim).collect::<Vec<_>>().join("\n") };
    (text, aligned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(cases: &[(&str, &str)]) {
        for (latex, expected) in cases {
            assert_eq!(inline(latex), *expected, "{latex}");
        }
    }

    #[test]
    fn formulas_read_as_text() {
        check(&[
            ("x^2", "x²"),
            ("x_1", "x₁"),
            ("x_1^2 + x^2_1", "x₁² + x₁²"),
            ("a^{n+1}", "aⁿ⁺¹"),
            ("10^{-3}", "10⁻³"),
            ("e^{-x^2/2}", "e^(-x²/2)"),
            ("x^Q", "x^Q"),
            ("T_{cold}", "T_(cold)"),
            ("f'(x) = 2x", "f′(x) = 2x"),
            ("\\frac{a}{b}", "a/b"),
            ("\\frac{a+b}{2}", "(a + b)/2"),
            ("\\frac{1}{2x}", "1/(2x)"),
            ("\\frac{2x}{y_1}", "2x/y₁"),
            ("x \\mid y", "x | y"),
            ("\\frac12 mv^2", "(1/2)mv²"),
            ("\\frac{dy}{dx} = \\frac{\\partial f}{\\partial x}", "dy/dx = ∂f/∂x"),
            ("\\left(\\frac{a}{b}\\right)^2", "(a/b)²"),
            ("\\frac{\\frac{a}{b}}{c}", "(a/b)/c"),
            ("\\sqrt{x}", "√x"),
            ("\\sqrt{x+1}", "√(x + 1)"),
            ("\\sqrt[3]{8} = \\sqrt[n]{x}", "∛8 = ⁿ√x"),
            ("x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}", "x = (-b ± √(b² - 4ac))/(2a)"),
            ("a\\times b\\cdot c\\leq d\\neq e", "a × b · c ≤ d ≠ e"),
            ("a=-1", "a = -1"),
            ("|-x|=|x|", "|-x| = |x|"),
            ("\\sum_{i=1}^{n} i^2", "∑ᵢ₌₁ⁿ i²"),
            ("\\int_0^\\infty e^{-x}\\,dx", "∫₀^∞ e⁻ˣ dx"),
            ("\\lim_{x \\to 0} \\frac{\\sin x}{x} = 1", "lim_(x→0) (sin x)/x = 1"),
            ("2\\sin(x)\\cos x", "2 sin(x) cos x"),
            ("\\forall x \\in \\mathbb{R}: x^2 \\geq 0", "∀x ∈ ℝ: x² ≥ 0"),
            ("A \\Rightarrow B \\iff C", "A ⇒ B ⇔ C"),
            ("\\alpha\\beta + \\Omega", "αβ + Ω"),
            ("90^\\circ, A^T, A^\\top", "90°, Aᵀ, Aᵀ"),
            ("v = 5\\text{ m/s}", "v = 5 m/s"),
            ("5\\,\\mathrm{kg}", "5 kg"),
            ("x \\text{ if } y > 0", "x if y > 0"),
            ("v_{\\text{max}}", "vₘₐₓ"),
            ("\\vec\\vec\\vec\\vec\\vec\\vec x", "x\u{20d7}"),
            ("\\vec{v} + \\bar{x} + \\hat{y}", "v\u{20d7} + x\u{304} + y\u{302}"),
            ("\\binom{n}{k}", "C(n, k)"),
            ("a \\equiv b \\pmod{n}", "a ≡ b (mod n)"),
            ("\\{1, 2, \\ldots, n\\}", "{1, 2, …, n}"),
            ("1,000 + f(x,y)", "1,000 + f(x,y)"),
            ("\\left.\\frac{a}{b}\\right|_{x=0}", "(a/b)|ₓ₌₀"),
            ("a \\not= b \\not\\in C", "a ≠ b ∉ C"),
            ("\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "(1 2; 3 4)"),
            ("50\\% \\$5", "50%$5"),
        ]);
    }

    #[test]
    fn rare_and_broken_formulas_lose_nothing() {
        check(&[
            ("\\mystery{a}{b} + 1", "\\mystery{a}{b} + 1"),
            ("\\mystery x", "\\mystery x"),
            ("\\operatorname*{argmax}_x f(x)", "argmaxₓ f(x)"),
            ("A \\xrightarrow{f} B \\overset{!}{=} C", "A —f→ B =^! C"),
            ("\\underset{x \\in S}{\\max} x", "max_(x∈S) x"),
            ("a = ^2", "a =²"),
            ("{x", "x"),
            ("x}", "x}"),
            ("\\frac", "\\frac"),
            ("", ""),
            ("\\", "\\"),
            ("P(A|B) = \\frac{P(B|A)P(A)}{P(B)}", "P(A|B) = P(B|A)P(A)/P(B)"),
        ]);
    }

    #[test]
    fn formulas_stand_on_lines() {
        let cases = [
            ("E = mc^2", "E = mc²", false),
            ("\\begin{aligned} a &= b + c \\\\ &= d \\end{aligned}", "a = b + c\n= d", false),
            ("\\begin{align*}\na &= 1 \\\\[4pt]\nb &= 2\n\\end{align*}", "a = 1\nb = 2", false),
            (
                "A = \\begin{pmatrix} 1 & -2 \\\\ 30 & 4 \\end{pmatrix} x",
                "A = ( 1   -2 ) x\n    ( 30  4  )",
                true,
            ),
            (
                "|x| = \\begin{cases} x & \\text{if } x \\ge 0 \\\\ -x & \\text{otherwise} \\end{cases}",
                "|x| = { x   if x ≥ 0\n      { -x  otherwise",
                true,
            ),
            (
                "\\left[\\begin{array}{cc|c} 1 & 2 & 3 \\\\ 4 & 5 & 6 \\end{array}\\right]",
                "[ 1  2  3 ]\n  4  5  6",
                true,
            ),
        ];
        for (latex, expected, aligned) in cases {
            assert_eq!(display(latex, 40), (expected.to_owned(), aligned), "{latex}");
        }
        let wide = format!("\\begin{{cases}} {} & 1 \\\\ 2 & 3 \\end{{cases}}", "x".repeat(50));
        assert!(!display(&wide, 40).1);
    }

    #[test]
    fn hostile_formulas_do_not_grow() {
        let units = [
            "\\vec",
            "\\vec\\bar",
            "\\frac",
            "\\frac{",
            "\\sqrt",
            "{",
            "x^",
            "x_{",
            "\\left(",
            "\\not",
            "\\overset",
            "\\begin{pmatrix}",
            "\\begin{cases} x & y \\\\ ",
            "\\mystery{",
        ];
        for unit in units {
            let latex = unit.repeat(4000 / unit.len());
            let (line, lines) = (inline(&latex), display(&latex, 40).0);
            assert!(
                line.len() < 20_000 && lines.len() < 20_000,
                "{unit}: {} and {}",
                line.len(),
                lines.len()
            );
        }
    }

    proptest! {
        #[test]
        fn any_formula_is_shown(latex in "[a-c1 \\\\{}^_&'\\[\\]()|+=,.-]{0,60}") {
            inline(&latex);
            display(&latex, 40);
        }

        #[test]
        fn any_commands_are_shown(words in prop::collection::vec(command(), 0..20)) {
            inline(&words.concat());
            display(&words.concat(), 40);
        }

        #[test]
        fn a_whole_formula_shows_no_latex(latex in formula()) {
            let shown = [inline(&latex), display(&latex, 40).0];
            for text in shown {
                prop_assert!(!text.trim().is_empty() && !text.contains(['\\', '{', '}', '&']), "{latex}: {text}");
            }
        }
    }

    fn command() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "\\frac",
            "\\sqrt",
            "{",
            "}",
            "[",
            "]",
            "x",
            "1",
            "^",
            "_",
            "\\\\",
            "&",
            "\\left",
            "\\right",
            "(",
            ")",
            "\\text",
            "\\begin{pmatrix}",
            "\\end{pmatrix}",
            "\\begin{aligned}",
            "\\end{aligned}",
            " ",
            "\\sum",
            "'",
            "\\vec",
            "\\not",
            "\\mathbb",
            "=",
            "-",
            "日",
            "\\,",
        ])
    }

    fn formula() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "x",
            "12",
            "\\alpha ",
            "\\sin x",
            "f(x)",
            "\\mathbb{R}",
            "\\text{if so}",
        ]);
        leaf.prop_map(str::to_owned).prop_recursive(4, 24, 2, |inner| {
            (inner.clone(), inner, 0..9_usize).prop_map(|(a, b, shape)| match shape {
                0 => format!("\\frac{{{a}}}{{{b}}}"),
                1 => format!("\\sqrt{{{a}}}"),
                2 => format!("{a}^{{{b}}}"),
                3 => format!("{a}_{{{b}}}"),
                4 => format!("\\left( {a} \\right) {b}"),
                5 => format!("{a} \\leq {b}"),
                6 => format!("\\begin{{pmatrix}} {a} & {b} \\\\ 0 & 1 \\end{{pmatrix}}"),
                7 => format!("\\begin{{aligned}} {a} &= 1 \\\\ &= {b} \\end{{aligned}}"),
                _ => format!("{a} + {b}"),
            })
        })
    }
}
