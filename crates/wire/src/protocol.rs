//! Which wire a request belongs to, what it speaks and whether it asks a model (14.2). Paths are matched by whole
//! segments: `/v1/completions` is not `/v1/complete`.

canon::codes! {
    /// Who is at the other end: each wire has its own upstream and its own key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Wire {
        /// OpenAI and everything that speaks like it.
        Openai = "openai",
        /// Anthropic.
        Anthropic = "anthropic",
        /// Ollama's own interface.
        Ollama = "ollama",
        /// Gemini.
        Gemini = "gemini",
    }
}

canon::codes! {
    /// How request and answer are spelled.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Protocol {
        /// `/v1/chat/completions`
        ChatCompletions = "chat_completions",
        /// `/v1/completions`
        Completions = "completions",
        /// `/v1/responses`
        Responses = "responses",
        /// `/v1/messages`
        Messages = "messages",
        /// `/v1/complete`
        Complete = "complete",
        /// `/api/chat`, `/api/generate`
        Ollama = "ollama",
        /// `…:generateContent`, `…:streamGenerateContent`
        Gemini = "gemini",
        /// Anything else: lists of models, embeddings, probes, files.
        Other = "other",
    }
}

canon::codes! {
    /// Whether a call asks a model for text. Embeddings, token counts and lists of models do not (31.11).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Class {
        /// It does.
        Model = "model",
        /// It does not.
        Other = "other",
    }
}

/// Where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whose upstream.
    pub wire: Wire,
    /// What is spoken.
    pub protocol: Protocol,
    /// Whether a model is asked.
    pub class: Class,
}

/// Segments of the path of a request target; the query is no part of it.
fn segments(target: &str) -> Vec<&str> {
    let path = target.split('?').next().unwrap_or_default();
    path.strip_prefix('/').unwrap_or(path).split('/').collect()
}

/// The route of a request. `upgrade` is true for a request that asks for a WebSocket: those are sent with GET.
pub fn route(method: &str, target: &str, upgrade: bool) -> Route {
    let all = segments(target);
    let bare = if all.first() == Some(&"v1") { &all[1..] } else { &all[..] };
    let (wire, protocol) = match bare {
        ["chat", "completions"] => (Wire::Openai, Protocol::ChatCompletions),
        ["completions"] => (Wire::Openai, Protocol::Completions),
        ["responses"] => (Wire::Openai, Protocol::Responses),
        ["messages"] => (Wire::Anthropic, Protocol::Messages),
        ["complete"] => (Wire::Anthropic, Protocol::Complete),
        ["messages" | "complete", ..] => (Wire::Anthropic, Protocol::Other),
        _ => by_prefix(&all),
    };
    let asks = method == "POST" || (method == "GET" && upgrade);
    let class = if protocol != Protocol::Other && asks { Class::Model } else { Class::Other };
    Route { wire, protocol, class }
}

fn by_prefix(all: &[&str]) -> (Wire, Protocol) {
    match all {
        ["api", "chat" | "generate"] => (Wire::Ollama, Protocol::Ollama),
        ["api", ..] => (Wire::Ollama, Protocol::Other),
        [version, "models", call] if GEMINI.contains(version) && generates(call) => {
            (Wire::Gemini, Protocol::Gemini)
        }
        [version, "models", call] if GEMINI.contains(version) && call.contains(':') => {
            (Wire::Gemini, Protocol::Other)
        }
        [version, ..] if *version != "v1" && GEMINI.contains(version) => (Wire::Gemini, Protocol::Other),
        _ => (Wire::Openai, Protocol::Other),
    }
}

const GEMINI: [&str; 3] = ["v1beta", "v1alpha", "v1"];

fn generates(call: &str) -> bool {
    matches!(call.rsplit_once(':'), Some((_, "generateContent" | "streamGenerateContent")))
}

/// The path policy `model` of an enclosure (14.2): the paths through which models are used, and what lies below them.
/// A segment that a server might read as "up" or as a slash is refused, and so is an empty one.
pub fn policy_allows(target: &str) -> bool {
    let all = segments(target);
    let odd = |segment: &&str| {
        let lower = segment.to_ascii_lowercase();
        segment.is_empty()
            || [".", ".."].contains(segment)
            || segment.contains(['\\', ';'])
            || ["%2e", "%2f", "%5c", "%25", "%00"].iter().any(|code| lower.contains(code))
    };
    if all.iter().any(odd) {
        return false;
    }
    let bare = if all.first() == Some(&"v1") { &all[1..] } else { &all[..] };
    matches!(
        bare,
        ["chat", "completions", ..]
            | ["completions" | "responses" | "embeddings" | "models" | "messages" | "complete", ..]
            | ["api", "chat" | "generate" | "embed" | "embeddings" | "tags" | "show" | "version" | "ps"]
            | ["v1beta" | "v1alpha", "models", ..]
    )
}

/// Path of the upstream for a request target, query included: the base without a trailing `/v1`, then what came in.
/// Some clients leave `/v1` out where their base has none (`/messages`); they get it back unless the base has a path of
/// its own that does not end so.
pub fn upstream_path(base_path: &str, target: &str) -> String {
    let base = base_path.trim_end_matches('/');
    let stripped = match base.strip_suffix("/v1") {
        Some(stripped) => stripped,
        None if base == "v1" => "",
        None => base,
    };
    let short = matches!(
        segments(target)[..],
        ["chat", "completions", ..]
            | ["completions" | "responses" | "embeddings" | "models" | "messages" | "complete", ..]
    );
    let versioned = short && (stripped.is_empty() || stripped.len() < base.len());
    format!("{stripped}{}{target}", if versioned { "/v1" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_segments() {
        let of = |target| {
            let route = route("POST", target, false);
            (route.wire.code(), route.protocol.code(), route.class.code())
        };
        assert_eq!(of("/v1/messages?beta=true"), ("anthropic", "messages", "model"));
        assert_eq!(of("/messages"), ("anthropic", "messages", "model"));
        assert_eq!(of("/v1/messagesx"), ("openai", "other", "other"));
        assert_eq!(of("/v1/messages/count_tokens"), ("anthropic", "other", "other"));
        assert_eq!(of("/v1/complete"), ("anthropic", "complete", "model"));
        assert_eq!(of("/v1/completions"), ("openai", "completions", "model"));
        assert_eq!(of("/v1/chat/completions"), ("openai", "chat_completions", "model"));
        assert_eq!(of("/v1/embeddings"), ("openai", "other", "other"));
        assert_eq!(of("/api/chat"), ("ollama", "ollama", "model"));
        assert_eq!(of("/api/show"), ("ollama", "other", "other"));
        assert_eq!(of("/v1beta/models/m:streamGenerateContent?alt=sse"), ("gemini", "gemini", "model"));
        assert_eq!(of("/v1beta/models/m:countTokens"), ("gemini", "other", "other"));
        assert_eq!(of("/v1/models/m"), ("openai", "other", "other"));
        assert_eq!(route("HEAD", "/v1/messages", false).class, Class::Other);
        assert_eq!(route("GET", "/v1/responses", false).class, Class::Other);
        assert_eq!(route("GET", "/v1/responses", true).class, Class::Model);
    }

    #[test]
    fn the_policy_of_an_enclosure() {
        for target in ["/v1/models", "/v1/models/x", "/messages", "/v1/responses/r_1?x=/..", "/api/chat"] {
            assert!(policy_allows(target), "{target}");
        }
        for target in [
            "/",
            "/v1",
            "/v1/",
            "/v1/files",
            "/v1/modelsx",
            "/v1/models/../files",
            "/v1/models/%2E%2e/files",
            "/v1//models",
            "/v1/models/",
            "/v1/chat",
            "/api/pull",
            "/v1/models/..;/x",
            "/V1/models",
        ] {
            assert!(!policy_allows(target), "{target}");
        }
    }

    #[test]
    fn bases_and_paths() {
        let of = upstream_path;
        assert_eq!(of("", "/v1/messages?beta=true"), "/v1/messages?beta=true");
        assert_eq!(of("/v1", "/v1/messages"), "/v1/messages");
        assert_eq!(of("/v1/", "/messages"), "/v1/messages");
        assert_eq!(of("", "/messages"), "/v1/messages");
        assert_eq!(of("/api/v1", "/v1/chat/completions"), "/api/v1/chat/completions");
        assert_eq!(of("/api/v1", "/chat/completions"), "/api/v1/chat/completions");
        assert_eq!(of("/v1beta/openai", "/chat/completions"), "/v1beta/openai/chat/completions");
        assert_eq!(of("", "/api/chat"), "/api/chat");
    }
}
