//! Answers in English that show formatting, a long program, a long story and a slow text.

/// Text with every kind of formatting.
pub(super) const FORMATTED: &str = "# The barber's menu

**Bold**, *italic*, ~~struck~~, and `inline code`, with a [link](https://core.telegram.org/bots/api).

> Figaro here, Figaro there,
> Figaro up, Figaro down.

1. Wash
2. Cut
   - short at the sides
   - long on top
3. Shave

```rust
fn main() {
    println!(\"Bravo, bravissimo!\");
}
```

| Service | Minutes | Price |
|---|---:|---:|
| Cut | 30 | 20 € |
| Shave | 15 | 12 € |
| Wig | 45 | 35 € |

A wig of radius $r$ covers $\\frac{1}{2} \\cdot 4 \\pi r^2$ of the head.";

/// Slow text, meant to be stopped half way.
pub(super) const SLOW: &str = "I am taking my time with this one, word by word, so that you can see the draft grow and press stop \
whenever you have seen enough. There is nothing more to come than more of the same: one word, and then another, and \
another after that, until the sentence finds its end, which is here.";

const LONG_LINE: &str = "The barber of this city is in demand: everybody asks for him, everybody wants him, ladies and \
children, the old and the young, now the wig, then the beard, a letter to carry, a match to make.";

/// Returns a program with more lines than a message shows well.
pub(super) fn code() -> String {
    let cut = |n: usize| format!("    println!(\"customer {n}: wash, cut, shave\");\n");
    let lines: String = (1..=100).map(cut).collect();
    format!(
        "A day at the barber's, as a program:\n\n```rust\n// barber.rs\nfn main() {{\n{lines}}}\n```\n\nRun it with `rustc`."
    )
}

/// Returns more text than fits into one message.
pub(super) fn long() -> String {
    let paragraphs: Vec<String> = (1..=30).map(|n| format!("**{n}.** {LONG_LINE}")).collect();
    format!("A long story, in more than one message:\n\n{}", paragraphs.join("\n\n"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_long_story_takes_more_than_a_message() {
        assert!(super::long().chars().count() > 4096);
    }
}
