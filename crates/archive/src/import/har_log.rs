//! The members of a HAR 1.2 entry that are read.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer};

use super::json::{Elements, OrOther};
use super::json_loose::{Fields, Leaf, Maybe, object};

object! {
    /// A request with its response.
    Entry {
        request: Maybe<Request<'a>> = "request",
        response: Maybe<Response<'a>> = "response",
        started_date_time: Leaf<'a> = "startedDateTime",
        server_ip_address: Leaf<'a> = "serverIPAddress",
        timings: Maybe<Timings<'a>> = "timings",
        /// The sum of the timings, ms.
        time: Leaf<'a> = "time",
        /// The request's initiator: an object, as Chromium writes it, or its URL.
        initiator: Leaf<'a> = "_initiator",
    }
}

object! {
    /// Durations, ms; negative if not applicable.
    Timings {
        blocked: Leaf<'a> = "blocked",
        dns: Leaf<'a> = "dns",
        /// The time to connect, including TLS.
        connect: Leaf<'a> = "connect",
        ssl: Leaf<'a> = "ssl",
        send: Leaf<'a> = "send",
        wait: Leaf<'a> = "wait",
        receive: Leaf<'a> = "receive",
    }
}

object! {
    /// The initiator of a request.
    Initiator {
        url: Leaf<'a> = "url",
        /// The calls of a script, the innermost first.
        stack: Maybe<Stack<'a>> = "stack",
    }
}

object! {
    /// The calls of a script.
    Stack {
        frames: Leaf<'a> = "callFrames",
    }
}

object! {
    /// One call of a script.
    Frame {
        url: Leaf<'a> = "url",
    }
}

/// The URL of the innermost call that has one.
struct InnermostUrl(Option<String>);

impl<'de> Deserialize<'de> for InnermostUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let first = RefCell::new(None);
        let take = |frame: Maybe<Frame<'_>>| {
            let url = frame.0.and_then(|frame| frame.url.text());
            let mut first = first.borrow_mut();
            *first = first.take().or(url.filter(|url| !url.is_empty()));
            Ok(())
        };
        OrOther::list(Elements::new(take), || ()).deserialize(deserializer)?;
        Ok(Self(first.into_inner()))
    }
}

/// Returns the URL that initiated a request.
pub fn initiator_url(initiator: Leaf<'_>) -> Option<String> {
    // Browsertime and WebPageTest write the URL alone.
    initiator.text().or_else(|| {
        let initiator = initiator.read::<Maybe<Initiator<'_>>>()?.0?;
        let called = || initiator.stack.0?.frames.read::<InnermostUrl>()?.0;
        initiator.url.text().or_else(called)
    })
}

object! {
    /// A request.
    Request {
        method: Leaf<'a> = "method",
        url: Leaf<'a> = "url",
        headers: Fields<'a> = "headers",
        http_version: Leaf<'a> = "httpVersion",
        post_data: Maybe<PostData<'a>> = "postData",
        body_size: Leaf<'a> = "bodySize",
    }
}

object! {
    /// A request's body.
    PostData {
        mime_type: Leaf<'a> = "mimeType",
        text: Leaf<'a> = "text",
        /// The parameters of a form, possibly without `text`.
        params: Fields<'a> = "params",
        /// The encoding of the text: an extension of HAR 1.2 that this exporter and other writers
        /// use.
        encoding: Leaf<'a> = "encoding",
        own_encoding: Leaf<'a> = "_encoding",
    }
}

object! {
    /// A response.
    Response {
        status: Leaf<'a> = "status",
        status_text: Leaf<'a> = "statusText",
        http_version: Leaf<'a> = "httpVersion",
        headers: Fields<'a> = "headers",
        content: Maybe<Content<'a>> = "content",
        /// The target of a redirect, also if the fields are not in the HAR.
        redirect_url: Leaf<'a> = "redirectURL",
        /// The size of the body on the wire; in Chromium, including the head.
        body_size: Leaf<'a> = "bodySize",
        transfer_size: Leaf<'a> = "_transferSize",
        /// Chromium's reason for an incomplete response.
        error: Leaf<'a> = "_error",
    }
}

object! {
    /// A response's body.
    Content {
        size: Leaf<'a> = "size",
        mime_type: Leaf<'a> = "mimeType",
        text: Leaf<'a> = "text",
        encoding: Leaf<'a> = "encoding",
        /// This exporter's note on a body that is stored as sent.
        comment: Leaf<'a> = "comment",
    }
}
