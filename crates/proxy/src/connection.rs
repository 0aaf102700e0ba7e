//! One connection of the agent: call after call.

use crate::body::Body;
use crate::call::Call;
use crate::config::{Event, PathPolicy, Upgrades};
use crate::download::Answered;
use crate::exchange::{Over, Passage, exchange};
use crate::head::{self, Change, RequestHead};
use crate::shared::{Phase, Shared};
use crate::stream::{Buffer, Stream};
use crate::target::Target;
use crate::upload::{self, Signs, Stuck};
use crate::upstream::{self, Upstream};
use crate::{local, websocket};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::Sender;
use wire::{CallError, End, Framing, Row, Wire, headers};

/// How long an agent may take to read a last answer while it still sends.
const LINGER: Duration = Duration::from_secs(1);
/// Most bytes that are thrown away meanwhile.
const LINGER_BYTES: usize = 1 << 20;

/// How a knock begins, and how long it may be.
const KNOCK: &[u8] = b"KNOCK ";
const KNOCK_BYTES_MAX: usize = 256;

/// Methods that are passed on.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// How a call ended for the connection.
struct Done {
    end: End,
    /// Another call may follow.
    keep: bool,
    /// If none does, the agent is given time to read what it got.
    linger: bool,
}

impl Done {
    fn last(end: End) -> Done {
        Done { end, keep: false, linger: false }
    }
}

/// A connection.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    rows: Sender<Row>,
    agent: Stream,
    buffer: Buffer,
    /// The connection to the upstream of the last call: one of the agent's has one of the upstream's behind it, as
    /// without us.
    idle: Option<Upstream>,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>, rows: Sender<Row>, agent: Stream) -> Connection {
        Connection { shared, rows, agent, buffer: Buffer::default(), idle: None }
    }

    /// Takes calls until one side closes.
    pub(crate) async fn serve(mut self) {
        while self.begins().await {
            if self.knocked().await {
                return;
            }
            let shared = Arc::clone(&self.shared);
            let mut call = Call::begin(&shared);
            let done = tokio::select! {
                biased;
                done = self.call(&mut call) => done,
                () = shared.reached(Phase::Stopped) => Done::last(End::Stop),
            };
            if matches!(done.end, End::Stop | End::Store) {
                self.agent.reset_when_dropped();
            }
            // The thread of the index lives as long as somebody can send.
            let _ = self.rows.send(call.finish(&shared, done.end)).await;
            if !done.keep {
                if done.linger {
                    self.linger().await;
                }
                return;
            }
        }
    }

    /// Waits for the first byte of a call. Line ends between two requests are nothing.
    async fn begins(&mut self) -> bool {
        loop {
            let blank = self.buffer.filled().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.buffer.consume(blank);
            if !self.buffer.is_empty() {
                return true;
            }
            tokio::select! {
                biased;
                read = self.buffer.fill(&mut self.agent) => if !matches!(read, Ok(1..)) { return false },
                // As without us: the agent opens another connection instead of sending into one that is closed.
                () = ended(self.idle.as_mut()) => return false,
                () = self.shared.reached(Phase::Stopped) => return false,
            }
        }
    }

    /// Whether it was the desk's own probe, which is answered and leaves no line.
    async fn knocked(&mut self) -> bool {
        let shared = Arc::clone(&self.shared);
        let (Some(knock), Stream::Unix(_)) = (&shared.config.knock, &self.agent) else { return false };
        let token = loop {
            let filled = self.buffer.filled();
            let start = filled.len().min(KNOCK.len());
            if filled[..start] != KNOCK[..start] || filled.len() > KNOCK_BYTES_MAX {
                return false;
            }
            if let Some(end) = filled.iter().position(|byte| *byte == b'\n') {
                break &filled[KNOCK.len().min(end)..end];
            }
            if !matches!(self.buffer.fill(&mut self.agent).await, Ok(1..)) {
                return false;
            }
        };
        if !knock(token) {
            return false;
        }
        // The probe may be gone.
        let _ = self.agent.write_all(b"OPEN\n").await;
        let _ = self.agent.shutdown().await;
        true
    }

    /// Lets the agent read the last answer: closing with bytes unread would be a reset, which takes the answer away.
    async fn linger(&mut self) {
        let shared = Arc::clone(&self.shared);
        let drain = async {
            if self.agent.shutdown().await.is_err() {
                return;
            }
            let mut read = 0;
            while let Ok(length @ 1..) = self.buffer.fill(&mut self.agent).await {
                self.buffer.consume(self.buffer.filled().len());
                read += length;
                if read > LINGER_BYTES {
                    return;
                }
            }
        };
        tokio::select! {
            () = drain => {}
            () = tokio::time::sleep(LINGER) => {}
            () = shared.reached(Phase::Stopped) => {}
        }
    }

    async fn call(&mut self, call: &mut Call) -> Done {
        let head = loop {
            match head::request(self.buffer.filled()) {
                Ok(Some(head)) => break head,
                Ok(None) => {}
                Err(error) => return self.refuse(call, None, error).await,
            }
            if !matches!(self.buffer.fill(&mut self.agent).await, Ok(1..)) {
                call.error = Some(CallError::RequestCut);
                return Done::last(End::Agent);
            }
        };
        self.buffer.consume(head.length);
        let upgrade = headers::asks_websocket(&head.fields.lines());
        call.head(&self.shared, &head, upgrade);
        let (call_id, wire, path) = (&call.id[..], call.route.wire, &call.path[..]);
        self.shared.tell(&Event::Begun { call_id, wire, path });
        let shared = Arc::clone(&self.shared);
        let (framing, target) = match admit(&shared, &head, wire, upgrade) {
            Ok(admitted) => admitted,
            Err(error) => return self.refuse(call, Some(&head), error).await,
        };
        if call.open_request(&self.shared).is_err() {
            return self.refuse(call, Some(&head), CallError::NotStored).await;
        }
        self.pass_on(call, &head, framing, target, upgrade).await
    }

    async fn pass_on(
        &mut self,
        call: &mut Call,
        head: &RequestHead,
        framing: Framing,
        target: &Target,
        upgrade: bool,
    ) -> Done {
        let shared = Arc::clone(&self.shared);
        let path = wire::upstream_path(&target.path, &head.target);
        call.upstream = Some(shared.clean(&target.url(&path)));
        let mut upstream = match self.connect(call.route.wire, target).await {
            Ok(upstream) => upstream,
            Err(Some(error)) => return self.no_answer(call, error).await,
            Err(None) => return Done::last(End::Agent),
        };
        let change = Change {
            wire: call.route.wire,
            path: &path,
            authority: &target.authority,
            sentinel: &shared.config.sentinel,
            key: shared.config.keys.of(call.route.wire),
            upgrade,
        };
        let passage = Passage {
            shared: &shared,
            agent: &mut self.agent,
            buffer: &mut self.buffer,
            upstream: &mut upstream,
            upgrade,
        };
        let over = exchange(passage, &head.forwarded(&change), Body::new(framing), call).await;
        let last = headers::closes(&head.fields.lines());
        match over {
            Over::Answered(Answered::Complete) => {
                let keep = call.request.copy.complete && !last;
                if keep && !call.response.closes && upstream.buffer.is_empty() {
                    self.idle = Some(upstream);
                }
                Done { end: End::Complete, keep, linger: true }
            }
            Over::Answered(Answered::Switched) => {
                Done::last(websocket::relay(&shared, &mut self.agent, &mut self.buffer, upstream, call).await)
            }
            over => self.broken(call, over).await,
        }
    }

    /// A call that did not end as it should.
    async fn broken(&mut self, call: &mut Call, over: Over) -> Done {
        match over {
            Over::Answered(Answered::Closed) => Done::last(End::Closed),
            Over::Answered(Answered::NoUpgrade) => {
                call.error = Some(CallError::Upgrade);
                self.explain(call, CallError::Upgrade, false).await
            }
            Over::Answered(Answered::Upstream { error, reset }) => {
                if call.response.status == 0 {
                    return self.no_answer(call, error).await;
                }
                call.error = Some(error);
                if reset {
                    self.agent.reset_when_dropped();
                }
                Done::last(End::Upstream)
            }
            Over::Stuck(Stuck::Malformed) => {
                call.error = Some(CallError::RequestMalformed);
                if call.response.status == 0 {
                    let bytes = local::answer(CallError::RequestMalformed, b"", &call.method, true);
                    // Its call is over either way.
                    let _ = self.agent.write_all(&bytes).await;
                }
                Done { end: End::Agent, keep: false, linger: true }
            }
            Over::Stuck(Stuck::Cut) => {
                call.error = Some(CallError::RequestCut);
                Done::last(End::Agent)
            }
            Over::Answered(Answered::NotStored) | Over::Stuck(Stuck::NotStored) => Done::last(End::Store),
            Over::Answered(_) | Over::Stuck(_) => Done::last(End::Agent),
        }
    }

    /// A connection to the upstream. `None` says that the agent hung up meanwhile.
    async fn connect(&mut self, wire: Wire, target: &Target) -> Result<Upstream, Option<CallError>> {
        if let Some(mut idle) = self.idle.take().filter(|idle| idle.wire == wire)
            && idle.stream.is_quiet().await
        {
            return Ok(idle);
        }
        let signs = Signs::default();
        let gone =
            upload::hung_up(&self.shared, &mut self.agent, &mut self.buffer, None::<&mut Stream>, &signs);
        tokio::select! {
            biased;
            upstream = upstream::connect(wire, target, &self.shared.tls) => upstream.map_err(Some),
            () = gone => Err(None),
        }
    }

    /// No answer came from the upstream: 502 without a body (14.5), and the row says why.
    async fn no_answer(&mut self, call: &mut Call, error: CallError) -> Done {
        call.error = Some(error);
        let bytes = local::answer(error, b"", &call.method, true);
        // The call is over either way.
        let _ = self.agent.write_all(&bytes).await;
        Done { end: End::Upstream, keep: false, linger: true }
    }

    /// Answers here. Nothing is sent.
    async fn refuse(&mut self, call: &mut Call, head: Option<&RequestHead>, error: CallError) -> Done {
        (call.blocked, call.error) = (true, Some(error));
        let mut keep = false;
        if let Some(head) = head {
            let framing = wire::request_framing(&head.fields.lines());
            let empty = matches!(framing, Ok(Framing::None | Framing::Length(0)));
            let waits = head.fields.get("expect").is_some();
            let worth = matches!(error, CallError::Sink | CallError::NonModelPath | CallError::Upgrade);
            let stored = call.open_request(&self.shared).is_ok();
            if let (Ok(framing), true) = (framing, stored && (empty || (worth && !waits))) {
                let mut body = Body::new(framing);
                let mut nowhere = tokio::io::sink();
                let sent = upload::send(
                    &mut self.agent,
                    &mut self.buffer,
                    &mut nowhere,
                    &mut body,
                    &mut call.request,
                );
                match sent.await {
                    Ok(()) => keep = worth && !headers::closes(&head.fields.lines()),
                    Err(Stuck::Cut) => return Done::last(End::Agent),
                    Err(_) => {}
                }
            }
        }
        self.explain(call, error, keep).await
    }

    /// Answers with an explanation, which is recorded like any other answer.
    async fn explain(&mut self, call: &mut Call, error: CallError, keep: bool) -> Done {
        let body = if call.method == "HEAD" { Vec::new() } else { local::explanation(error) };
        let bytes = local::answer(error, &body, &call.method, !keep);
        let us = call.start.elapsed().as_micros() as u64;
        let begun = call.response.begin(&self.shared, &call.id, local::status(error).0, us);
        if begun.and_then(|()| call.response.push(&body)).is_err() {
            return Done::last(End::Store);
        }
        if self.agent.write_all(&bytes).await.is_err() {
            return Done::last(End::Agent);
        }
        call.response.copy.complete = true;
        Done { end: End::Complete, keep, linger: true }
    }
}

/// Waits until an idle connection is closed, or says something that nobody asked for.
async fn ended(idle: Option<&mut Upstream>) {
    match idle {
        Some(idle) => drop(idle.buffer.fill(&mut idle.stream).await),
        None => std::future::pending().await,
    }
}

/// Whether a request is passed on, and where.
fn admit<'a>(
    shared: &'a Shared,
    head: &RequestHead,
    wire: Wire,
    upgrade: bool,
) -> Result<(Framing, &'a Target), CallError> {
    if !METHODS.contains(&head.method.as_str()) {
        return Err(CallError::Method);
    }
    if !head.target.starts_with('/') {
        return Err(CallError::Target);
    }
    let framing = wire::request_framing(&head.fields.lines()).map_err(|_| CallError::FramingAmbiguous)?;
    if upgrade && framing != Framing::None {
        return Err(CallError::FramingAmbiguous);
    }
    if shared.book().broken {
        return Err(CallError::NotStored);
    }
    if shared.phase() != Phase::Open {
        return Err(CallError::Stopped);
    }
    shared.admit()?;
    if shared.config.policy == PathPolicy::Model && !wire::policy_allows(&head.target) {
        return Err(CallError::NonModelPath);
    }
    if upgrade && shared.config.upgrades == Upgrades::Refuse {
        return Err(CallError::Upgrade);
    }
    shared.targets.of(wire).map(|target| (framing, target)).ok_or(CallError::Sink)
}
