//! File name patterns, as in Go's `filepath.Match`.

/// A pattern for one path element: `*`, `?`, `[a-z]`, `[^a-z]`, and `\` before a literal character.
pub(super) struct Pattern(Vec<Token>);

enum Token {
    Sequence,
    Character,
    Literal(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    /// Whether the text has any of the special characters.
    pub(super) fn is_pattern(text: &str) -> bool {
        text.contains(['*', '?', '['])
    }

    /// Reads a pattern; `None` for an open or empty bracket and for `\` at the end.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            tokens.push(match character {
                '*' => Token::Sequence,
                '?' => Token::Character,
                '\\' => Token::Literal(characters.next()?),
                '[' => class(&mut characters)?,
                other => Token::Literal(other),
            });
        }
        Some(Self(tokens))
    }

    /// Whether the whole name matches. Takes at most length of name times length of pattern steps.
    pub(super) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut token, mut position) = (0, 0);
        // The last `*` met, and up to where it reaches so far.
        let mut sequence: Option<(usize, usize)> = None;
        loop {
            let character = name.get(position).copied();
            match (self.0.get(token), character) {
                (None, None) => return true,
                (Some(Token::Sequence), _) => {
                    sequence = Some((token, position));
                    token += 1;
                    continue;
                }
                (Some(single), Some(character)) if single.matches(character) => {
                    token += 1;
                    position += 1;
                    continue;
                }
                (Some(_) | None, _) => {}
            }
            match sequence {
                Some((at, reach)) if reach < name.len() => {
                    sequence = Some((at, reach + 1));
                    token = at + 1;
                    position = reach + 1;
                }
                Some(_) | None => return false,
            }
        }
    }
}

impl Token {
    fn matches(&self, character: char) -> bool {
        match self {
            Self::Sequence => false,
            Self::Character => true,
            Self::Literal(literal) => *literal == character,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != *negated
            }
        }
    }
}

fn class(characters: &mut std::str::Chars<'_>) -> Option<Token> {
    let mut rest = characters.clone();
    let negated = rest.next() == Some('^');
    if negated {
        characters.next();
    }
    let mut ranges = Vec::new();
    loop {
        let low = match characters.next()? {
            ']' if !ranges.is_empty() => return Some(Token::Class { negated, ranges }),
            ']' | '-' => return None,
            '\\' => characters.next()?,
            other => other,
        };
        let mut rest = characters.clone();
        let mut high = low;
        if rest.next() == Some('-') {
            characters.next();
            high = match characters.next()? {
                ']' | '-' => return None,
                '\\' => characters.next()?,
                other => other,
            };
        }
        ranges.push((low, high));
    }
}
