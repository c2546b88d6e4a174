//! The members of a HAR 1.2 entry that are read.

use super::json_loose::{Fields, Leaf, Maybe, object};

object! {
    /// A request with its response.
    Entry {
        request: Maybe<Request<'a>> = "request",
        response: Maybe<Response<'a>> = "response",
        started_date_time: Leaf<'a> = "startedDateTime",
        server_ip_address: Leaf<'a> = "serverIPAddress",
        timings: Maybe<Timings<'a>> = "timings",
        /// The request's initiator, as Chromium writes it.
        initiator: Maybe<Initiator<'a>> = "_initiator",
    }
}

object! {
    /// Durations, ms; negative if not applicable.
    Timings {
        wait: Leaf<'a> = "wait",
        /// The time to connect, including TLS.
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
