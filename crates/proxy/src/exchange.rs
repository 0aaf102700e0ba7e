//! Both directions of one call at the same time.

use crate::body::Body;
use crate::call::Call;
use crate::download::{self, Answered, Asked};
use crate::shared::{Phase, Shared};
use crate::stream::{Buffer, Stream};
use crate::upload::{self, SILENCE, Signs, Stuck};
use crate::upstream::Upstream;
use std::sync::atomic::Ordering;
use tokio::io::AsyncWriteExt;

/// What a call runs over.
pub(crate) struct Passage<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) agent: &'a mut Stream,
    pub(crate) buffer: &'a mut Buffer,
    pub(crate) upstream: &'a mut Upstream,
    pub(crate) upgrade: bool,
}

/// Which direction ended the call.
#[derive(Debug)]
pub(crate) enum Over {
    Answered(Answered),
    Stuck(Stuck),
}

/// Passes on a request, whose head is given, and its answer. An answer may come before the request is through (PC-32).
pub(crate) async fn exchange(passage: Passage<'_>, head: &[u8], mut body: Body, call: &mut Call) -> Over {
    let Passage { shared, agent, buffer, upstream, upgrade } = passage;
    let signs = Signs::default();
    let half_closes = upstream.stream.half_closes();
    let (mut agent_in, mut agent_out) = tokio::io::split(agent);
    let (mut up_in, mut up_out) = tokio::io::split(&mut upstream.stream);
    let Call { id, start, method, route, request, response, .. } = call;
    let (start, protocol) = (*start, route.protocol);
    let asked = Asked { shared, id, start, method, protocol, upgrade, signs: &signs };
    let up = async {
        let written = up_out.write_all(head).await.is_ok() && up_out.flush().await.is_ok();
        let sent = match written {
            true => upload::send(&mut agent_in, buffer, &mut up_out, &mut body, request).await,
            false => Err(Stuck::Deaf),
        };
        let mirror = match sent {
            Ok(()) => half_closes.then_some(&mut up_out),
            // It may have answered before it stopped reading.
            Err(Stuck::Deaf) => None,
            Err(stuck) => return stuck,
        };
        if request.copy.complete {
            signs.tell_sent();
        }
        upload::hung_up(shared, &mut agent_in, buffer, mirror, &signs).await;
        Stuck::Gone
    };
    let down = download::receive(&asked, &mut up_in, &mut upstream.buffer, &mut agent_out, response);
    tokio::pin!(up, down);
    let answered = tokio::select! {
        biased;
        answered = &mut down => answered,
        stuck = &mut up => return Over::Stuck(stuck),
    };
    if matches!(answered, Answered::Upstream { .. }) && signs.ended.load(Ordering::Relaxed) {
        // The upstream broke off because the agent had: whose end came first is what the record says (PC-28).
        return Over::Stuck(Stuck::Gone);
    }
    let whole = matches!(answered, Answered::Complete | Answered::Closed);
    if whole && !signs.sent.load(Ordering::Relaxed) {
        // The rest of a request that was answered early, if the upstream takes it and the agent sends it.
        tokio::select! {
            () = signs.on_sent.notified() => {}
            _ = &mut up => {}
            () = tokio::time::sleep(SILENCE) => {}
            () = shared.reached(Phase::Quiet) => {}
        }
    }
    Over::Answered(answered)
}
