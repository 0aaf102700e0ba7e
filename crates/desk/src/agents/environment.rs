//! The environment of an agent whose model calls go through the proxy of its run (desk specification 14.3): a function
//! over a list, so that what an agent is given can be looked at without starting one.

use canon::{Object, Value};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use wire::Wire;

/// Variables with their values.
pub type Variables = Vec<(OsString, OsString)>;

/// What an agent is told of the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Door {
    /// `http://127.0.0.1:PORT`, without a slash at its end.
    pub base: String,
    /// What stands in place of every key.
    pub sentinel: String,
}

impl Door {
    /// The base with `/v1`, as clients in the manner of OpenAI want it.
    pub fn base_v1(&self) -> String {
        format!("{}/v1", self.base)
    }
}

/// Base URLs that end with `/v1`.
const WITH_V1: [&str; 13] = [
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "OPENAI_BASE",
    "LITELLM_PROXY_API_BASE",
    "OPENROUTER_BASE_URL",
    "GROQ_BASE_URL",
    "TOGETHER_BASE_URL",
    "DEEPSEEK_BASE_URL",
    "XAI_BASE_URL",
    "MISTRAL_BASE_URL",
    "FIREWORKS_BASE_URL",
    "CEREBRAS_BASE_URL",
    "CUSTOM_BASE_URL",
];

/// Base URLs without it. The last three are not the peer's: agents that were tried read them.
const WITHOUT_V1: [&str; 9] = [
    "OPENAI_API_HOST",
    "OLLAMA_HOST",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_URL",
    "VACANT_MCP_BASE",
    "VACANT_ENDPOINT",
    "ANTHROPIC_API_BASE",
    "OLLAMA_API_BASE",
    "GOOGLE_GEMINI_BASE_URL",
];

/// Secrets of model providers; from `CODEX_API_KEY` on they are not the peer's.
const SECRETS: [&str; 37] = [
    "OPENAI_API_KEY",
    "OPENAI_ADMIN_KEY",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_BASE_URL",
    "AZURE_OPENAI_RESOURCE_NAME",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "TOGETHER_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
    "FIREWORKS_API_KEY",
    "PERPLEXITY_API_KEY",
    "CEREBRAS_API_KEY",
    "COHERE_API_KEY",
    "HUGGINGFACE_API_KEY",
    "HF_TOKEN",
    "REPLICATE_API_TOKEN",
    "VACANT_MCP_API_KEY",
    "VACANT_API_KEY",
    "CODEX_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "OLLAMA_API_KEY",
    "LITELLM_API_KEY",
    "LITELLM_PROXY_API_KEY",
    "DASHSCOPE_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AI_GATEWAY_API_KEY",
];

/// A client that honours one of these would go past the proxy, or through another one, to 127.0.0.1. Any case.
const PROXIES: [&str; 8] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "ftp_proxy",
    "ws_proxy",
    "wss_proxy",
    "grpc_proxy",
];

/// What is meant for the desk alone. An agent must not be able to tell which arm it is in (10.4).
const DESK_ONLY: [&str; 6] = [
    "VACANT",
    "VACANT_RUN_UPSTREAM_OPENAI",
    "VACANT_RUN_UPSTREAM_ANTHROPIC",
    "VACANT_RUN_UPSTREAM_OLLAMA",
    "VACANT_RUN_UPSTREAM_GEMINI",
    "VACANT_RUN_ALLOW_PUBLIC_UPSTREAM",
];

/// Set to the sentinel for every agent.
const SENTINELS: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
/// Where the proxy is, and what stands for a key, for agents that are made for the desk.
const PROXY_VARIABLE: &str = "VACANT_RUN_PROXY";
const SENTINEL_VARIABLE: &str = "VACANT_RUN_SENTINEL";
/// A shorter value is not taken for a key when it is looked for inside other values.
const KEY_BYTES_MIN: usize = 8;

/// An environment and what was done to get there: names only, never a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// What the agent gets.
    pub variables: Variables,
    /// Now point at the proxy.
    pub redirected: Vec<&'static str>,
    /// Secrets that were there and are not any more.
    pub stripped: Vec<String>,
    /// Proxy variables that were there and are not any more.
    pub stripped_proxies: Vec<String>,
    /// What only the desk reads.
    pub stripped_upstream: Vec<String>,
    /// Now hold the sentinel.
    pub sentinel_vars: Vec<&'static str>,
}

impl Environment {
    /// For the summary: names, never a value.
    pub fn names(&self) -> Value {
        Object::new()
            .with("redirected", self.redirected.clone())
            .with("stripped", self.stripped.clone())
            .with("stripped_proxies", self.stripped_proxies.clone())
            .with("stripped_upstream", self.stripped_upstream.clone())
            .with("sentinel_vars", self.sentinel_vars.clone())
            .into()
    }
}

/// The environment without what is meant for the desk: what every agent gets, with a proxy or without one.
pub fn without_desk(given: Variables) -> Variables {
    given.into_iter().filter(|(name, _)| !among(name, &DESK_ONLY)).collect()
}

/// The environment without the desk's keys, under whatever name a copy of one stands, and without what is meant for the
/// desk: for an agent that gets no proxy (section 20).
pub fn without_keys(given: Variables) -> Variables {
    let keys: Vec<Vec<u8>> = keys(&given).into_iter().map(<[u8]>::to_vec).collect();
    let keys = keys.iter().map(Vec::as_slice).collect();
    // Other providers' names follow the same habit.
    let named = |name: &OsString| {
        let name = name.to_string_lossy().to_ascii_uppercase();
        ["_API_KEY", "_APIKEY", "_API_TOKEN"].iter().any(|habit| name.contains(habit))
    };
    let kept = |(name, value): &(OsString, OsString)| {
        !among(name, &SECRETS) && !named(name) && !holds_a_key(value, &keys)
    };
    without_desk(given).into_iter().filter(kept).collect()
}

/// The environment of an agent behind `door`, made from the desk's own.
pub fn behind(given: &[(OsString, OsString)], door: &Door) -> Environment {
    let keys = keys(given);
    let mut made = Environment {
        variables: Vec::new(),
        redirected: WITH_V1.into_iter().chain(WITHOUT_V1).collect(),
        stripped: Vec::new(),
        stripped_proxies: Vec::new(),
        stripped_upstream: Vec::new(),
        sentinel_vars: SENTINELS.to_vec(),
    };
    for (name, value) in given {
        let shown = || canon::shown(name.as_bytes());
        if among(name, &DESK_ONLY) {
            made.stripped_upstream.push(shown());
        } else if is_proxy(name) {
            made.stripped_proxies.push(shown());
        } else if among(name, &SECRETS) || holds_a_key(value, &keys) {
            made.stripped.push(shown());
        } else if !is_set_anew(name) {
            made.variables.push((name.clone(), value.clone()));
        }
    }
    let mut set = |name: &str, value: &str| made.variables.push((name.into(), value.into()));
    for name in WITH_V1 {
        set(name, &door.base_v1());
    }
    for name in WITHOUT_V1 {
        set(name, &door.base);
    }
    for name in SENTINELS {
        set(name, &door.sentinel);
    }
    set(PROXY_VARIABLE, &door.base);
    set(SENTINEL_VARIABLE, &door.sentinel);
    made
}

fn among(name: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|known| name == *known)
}

fn is_set_anew(name: &OsStr) -> bool {
    among(name, &WITH_V1) || among(name, &WITHOUT_V1) || among(name, &[PROXY_VARIABLE, SENTINEL_VARIABLE])
}

fn is_proxy(name: &OsStr) -> bool {
    PROXIES.iter().any(|known| name.as_bytes().eq_ignore_ascii_case(known.as_bytes()))
}

/// Values of the secret variables: a copy of one under another name is a key too.
fn keys(given: &[(OsString, OsString)]) -> BTreeSet<&[u8]> {
    let secret = given.iter().filter(|(name, _)| among(name, &SECRETS) && !is_no_key(name));
    secret.map(|(_, value)| value.as_bytes()).filter(|value| value.len() >= KEY_BYTES_MIN).collect()
}

/// Removed with the secrets, and public words themselves: names and addresses.
fn is_no_key(name: &OsStr) -> bool {
    let no_keys =
        ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME"];
    among(name, &no_keys)
}

fn holds_a_key(value: &OsStr, keys: &BTreeSet<&[u8]>) -> bool {
    keys.iter().any(|key| value.as_bytes().windows(key.len()).any(|part| part == *key))
}

/// Where the user may have named an upstream, best first.
fn upstream_variables(wire: Wire) -> &'static [&'static str] {
    match wire {
        Wire::Openai => &["VACANT_RUN_UPSTREAM_OPENAI", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_BASE"],
        Wire::Anthropic => &[
            "VACANT_RUN_UPSTREAM_ANTHROPIC",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_API_URL",
            "ANTHROPIC_API_BASE",
        ],
        Wire::Ollama => &["VACANT_RUN_UPSTREAM_OLLAMA", "OLLAMA_API_BASE", "OLLAMA_HOST"],
        Wire::Gemini => &["VACANT_RUN_UPSTREAM_GEMINI", "GOOGLE_GEMINI_BASE_URL"],
    }
}

fn key_variables(wire: Wire) -> &'static [&'static str] {
    match wire {
        Wire::Openai => &["OPENAI_API_KEY", "VACANT_MCP_API_KEY", "VACANT_API_KEY"],
        Wire::Anthropic => &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        Wire::Ollama => &["OLLAMA_API_KEY"],
        Wire::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    }
}

/// A value, and the variable that it came from.
#[derive(Clone, PartialEq, Eq)]
pub struct Found {
    /// Name of the variable.
    pub source: &'static str,
    /// Its value.
    pub value: OsString,
}

/// Values may be keys.
impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").field("source", &self.source).finish_non_exhaustive()
    }
}

/// Where the user sends the calls of a wire; nothing when nobody named an upstream, and then there is none (14.3).
/// An address without a scheme (`OLLAMA_HOST=127.0.0.1:11434`) is one of plain HTTP.
pub fn upstream(given: &[(OsString, OsString)], wire: Wire) -> Option<Found> {
    let mut found = first(given, upstream_variables(wire))?;
    if !found.value.as_bytes().windows(3).any(|part| part == b"://") {
        let mut url = OsString::from("http://");
        url.push(&found.value);
        found.value = url;
    }
    Some(found)
}

/// The real key of a wire. It goes to the proxy and nowhere else.
pub fn key(given: &[(OsString, OsString)], wire: Wire) -> Option<Found> {
    first(given, key_variables(wire))
}

/// Whether the user lets a wire that nobody named go to the provider's public address.
pub fn allows_public(given: &[(OsString, OsString)]) -> bool {
    let allowed = first(given, &["VACANT_RUN_ALLOW_PUBLIC_UPSTREAM"]);
    allowed.is_some_and(|found| found.value == *"1")
}

fn first(given: &[(OsString, OsString)], names: &[&'static str]) -> Option<Found> {
    let value = |name: &'static str| {
        let (_, value) = given.iter().find(|(given, value)| *given == *name && !value.is_empty())?;
        Some(Found { source: name, value: value.clone() })
    };
    names.iter().find_map(|name| value(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn door() -> Door {
        Door { base: "http://127.0.0.1:4711".to_owned(), sentinel: "vacant-run-00ff".to_owned() }
    }

    fn get<'a>(made: &'a Environment, name: &str) -> Vec<&'a str> {
        let of = made.variables.iter().filter(|(given, _)| *given == *name);
        of.map(|(_, value)| value.to_str().unwrap()).collect()
    }

    #[test]
    fn every_base_url_points_at_the_proxy_once() {
        let given = list(&[("OPENAI_BASE_URL", "https://h/v1"), ("OLLAMA_HOST", "h:1"), ("HOME", "/h")]);
        let made = behind(&given, &door());
        for name in WITH_V1 {
            assert_eq!(get(&made, name), ["http://127.0.0.1:4711/v1"], "{name}");
        }
        for name in WITHOUT_V1 {
            assert_eq!(get(&made, name), ["http://127.0.0.1:4711"], "{name}");
        }
        assert_eq!(get(&made, "VACANT_RUN_PROXY"), ["http://127.0.0.1:4711"]);
        assert_eq!(get(&made, "HOME"), ["/h"]);
        assert_eq!(made.redirected.len(), WITH_V1.len() + WITHOUT_V1.len());
    }

    #[test]
    fn no_real_key_and_nothing_that_holds_one_is_passed_on() {
        let mut given: Variables = SECRETS.iter().map(|name| (name.into(), "sk-real-key".into())).collect();
        given.extend(list(&[("MY_KEY", "sk-real-key"), ("URL", "https://u:sk-real-key@h"), ("TERM", "x")]));
        let made = behind(&given, &door());
        assert!(!format!("{made:?}").contains("sk-real-key"), "{made:?}");
        assert_eq!(made.stripped.len(), SECRETS.len() + 2);
        for name in SENTINELS {
            assert_eq!(get(&made, name), ["vacant-run-00ff"], "{name}");
        }
        assert_eq!(get(&made, "TERM"), ["x"]);
        assert!(get(&made, "GEMINI_API_KEY").is_empty());
    }

    /// A short placeholder such as `x` stands in many values and is nobody's secret.
    #[test]
    fn short_keys_and_public_words_take_nothing_with_them() {
        let given = list(&[
            ("OPENAI_API_KEY", "x"),
            ("OPENAI_ORG_ID", "org-12345678"),
            ("PATH", "/usr/bin:x"),
            ("NOTE", "org-12345678"),
        ]);
        let made = behind(&given, &door());
        assert_eq!((get(&made, "PATH"), get(&made, "NOTE")), (vec!["/usr/bin:x"], vec!["org-12345678"]));
        assert_eq!(made.stripped, ["OPENAI_API_KEY", "OPENAI_ORG_ID"]);
    }

    #[test]
    fn proxies_of_any_case_and_what_only_the_desk_reads_are_gone() {
        let given = list(&[
            ("HTTP_PROXY", "http://p"),
            ("https_proxy", "http://p"),
            ("No_Proxy", "*"),
            ("VACANT", "0"),
            ("VACANT_RUN_UPSTREAM_OPENAI", "http://u"),
            ("PROXY_HINT", "kept"),
        ]);
        let made = behind(&given, &door());
        assert_eq!(made.stripped_proxies, ["HTTP_PROXY", "https_proxy", "No_Proxy"]);
        assert_eq!(made.stripped_upstream, ["VACANT", "VACANT_RUN_UPSTREAM_OPENAI"]);
        for name in ["HTTP_PROXY", "https_proxy", "No_Proxy", "VACANT", "VACANT_RUN_UPSTREAM_OPENAI"] {
            assert!(get(&made, name).is_empty(), "{name}");
        }
        assert_eq!(get(&made, "PROXY_HINT"), ["kept"]);
        let plain = without_desk(given);
        assert!(plain.iter().all(|(name, _)| *name != *"VACANT") && plain.len() == 4);
    }

    /// 10.4: what an agent is given does not say in which arm it is.
    #[test]
    fn both_arms_are_given_the_same() {
        let common = [("HOME", "/h"), ("OPENAI_API_KEY", "sk-real-key")];
        let on = list(&[&common[..], &[("VACANT", "1")]].concat());
        let off = list(&[&common[..], &[("VACANT", "0")]].concat());
        assert_eq!(behind(&on, &door()).variables, behind(&off, &door()).variables);
    }

    #[test]
    fn the_first_upstream_that_somebody_named() {
        let given = list(&[
            ("OPENAI_BASE_URL", ""),
            ("OPENAI_BASE", "http://third"),
            ("OPENAI_API_BASE", "http://second"),
            ("ANTHROPIC_API_URL", "http://a"),
            ("VACANT_RUN_UPSTREAM_ANTHROPIC", "http://named"),
        ]);
        let found = |wire| upstream(&given, wire).map(|found| (found.source, found.value));
        assert_eq!(found(Wire::Openai), Some(("OPENAI_API_BASE", "http://second".into())));
        assert_eq!(found(Wire::Anthropic), Some(("VACANT_RUN_UPSTREAM_ANTHROPIC", "http://named".into())));
        assert_eq!((found(Wire::Ollama), found(Wire::Gemini)), (None, None));
        let bare = list(&[("OLLAMA_HOST", "127.0.0.1:11434")]);
        assert_eq!(upstream(&bare, Wire::Ollama).unwrap().value, "http://127.0.0.1:11434");
        assert!(!allows_public(&given));
        assert!(allows_public(&list(&[("VACANT_RUN_ALLOW_PUBLIC_UPSTREAM", "1")])));
        assert!(!allows_public(&list(&[("VACANT_RUN_ALLOW_PUBLIC_UPSTREAM", "0")])));
    }

    #[test]
    fn keys_are_found_and_never_shown() {
        let given = list(&[("ANTHROPIC_AUTH_TOKEN", "sk-real-key"), ("VACANT_API_KEY", "sk-other-key")]);
        let found = key(&given, Wire::Anthropic).unwrap();
        assert_eq!((found.source, found.value.to_str()), ("ANTHROPIC_AUTH_TOKEN", Some("sk-real-key")));
        assert!(!format!("{found:?}").contains("sk-"), "{found:?}");
        assert_eq!(key(&given, Wire::Openai).unwrap().source, "VACANT_API_KEY");
        assert_eq!(key(&given, Wire::Gemini), None);
    }
}
