//! Lines that look as if they held a secret. The finding names the kind and never repeats the secret.

/// The kind of secret, if there is one.
pub(super) fn secret(line: &str) -> Option<&'static str> {
    if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY") {
        return Some("private_key");
    }
    let upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let tokens = [
        ("ghp_", "github_token", 36),
        ("github_pat_", "github_token", 40),
        ("xoxb-", "slack_token", 20),
        ("sk-", "api_key", 32),
    ];
    if has_token(line, "AKIA", 16, upper) {
        return Some("aws_access_key");
    }
    let found = tokens.iter().find(|(prefix, _, length)| has_token(line, prefix, *length, word));
    found.map(|(_, kind, _)| *kind).or_else(|| assigned(line).then_some("assigned_secret"))
}

fn has_token(line: &str, prefix: &str, length: usize, allowed: fn(u8) -> bool) -> bool {
    line.match_indices(prefix).any(|(at, _)| {
        let before = line[..at].bytes().next_back();
        let begins = !before.is_some_and(|byte| byte.is_ascii_alphanumeric());
        begins
            && line[at + prefix.len()..].bytes().take(length).filter(|byte| allowed(*byte)).count() == length
    })
}

/// `password = "at least eight characters"` and its like, but no placeholder.
fn assigned(line: &str) -> bool {
    const NAMES: [&str; 7] = ["password", "passwd", "secret", "api_key", "apikey", "token", "private_key"];
    let lower = line.to_lowercase();
    NAMES.iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let rest = lower[at + name.len()..].trim_start_matches(['"', '\'', ' ', '\t']);
            let Some(value) = rest.strip_prefix([':', '=']).map(str::trim_start) else { return false };
            let Some(quote) = value.chars().next().filter(|ch| matches!(ch, '"' | '\'')) else {
                return false;
            };
            let inside = value[1..].split(quote).next().unwrap_or_default();
            let placeholder = inside.contains(['<', '$', '{', '%']) || inside.starts_with("your");
            inside.chars().count() >= 8 && !placeholder
        })
    })
}

#[cfg(test)]
mod tests {
    use super::secret;

    #[test]
    fn secrets_are_told_from_placeholders() {
        let aws = format!("key = {}{}", "AKIA", "ABCDEFGHIJKLMNOP");
        assert_eq!(secret(&aws), Some("aws_access_key"));
        assert_eq!(secret(&format!("-----{} RSA PRIVATE KEY-----", "BEGIN")), Some("private_key"));
        assert_eq!(secret(&format!("x='{}{}'", "ghp_", "a".repeat(36))), Some("github_token"));
        assert_eq!(secret("\"api_key\": 'abcd1234'"), Some("assigned_secret"));
        for line in [
            "password = \"${PASSWORD}\"",
            "password = input()",
            "token = 'short'",
            "AKIAabc",
            "task-force",
            "secret: 'your secret here'",
        ] {
            assert_eq!(secret(line), None, "{line}");
        }
    }
}
