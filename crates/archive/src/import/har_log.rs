//! The members of a HAR 1.2 entry that are read.

use super::json_loose::{Fields, Leaf, Maybe, object};

object! {
    /// A request with its answer.
    Entry {
        request: Maybe<Request<'a>> = "request",
        response: Maybe<Response<'a>> = "response",
        started_date_time: Leaf<'a> = "startedDateTime",
        server_ip_address: Leaf<'a> = "serverIPAddress",
        timings: Maybe<Timings<'a>> = "timings",
        /// What made the browser ask, as Chromium writes it.
        initiator: Maybe<Initiator<'a>> = "_initiator",
    }
}

object! {
    /// Durations, ms; below 0 where one does not apply.
    Timings {
        wait: Leaf<'a> = "wait",
        /// TLS included.
        connect: Leaf<'a> = "connect",
        ssl: Leaf<'a> = "ssl",
    }
}

object! {
    /// The initiator of a request.
    Initiator {
        url: Leaf<'a> = "url",
    }
}

object! {
    /// A request.
    Request {
        method: Leaf<'a> = "method",
        url: Leaf<'a> = "url",
        headers: Fields<'a> = "headers",
        post_data: Maybe<PostData<'a>> = "postData",
        body_size: Leaf<'a> = "bodySize",
    }
}

object! {
    /// A request's body.
    PostData {
        mime_type: Leaf<'a> = "mimeType",
        text: Leaf<'a> = "text",
        /// The parameters of a form, which may stand without a text.
        params: Fields<'a> = "params",
        /// The encoding of the text: other writers' member beyond HAR 1.2, and this exporter's own.
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
        /// The body's bytes on the wire, and with those of the head, as Chromium counts them.
        body_size: Leaf<'a> = "bodySize",
        transfer_size: Leaf<'a> = "_transferSize",
        /// Why Chromium has no whole answer.
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
        /// This exporter's note of a body that is as it was sent.
        comment: Leaf<'a> = "comment",
    }
}
