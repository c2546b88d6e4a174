"""Write a file as the one comment of a job on its pull or merge request: `comment.py FILE`.

A comment that begins with the file's first line is edited, so that each push replaces what the last
one wrote. GitHub's job gives GITHUB_TOKEN and PULL_REQUEST, GitLab's EYELEVEL_TOKEN; both providers
set the rest. Only the standard library is needed.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

TIMEOUT_S = 30
PAGE = 100
"""Comments in one answer: the most that both providers give."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Keeps the token from other hosts: a redirect is an error."""

    def redirect_request(self, *_: object) -> None:
        """Follow nothing."""


def main(file: str) -> str:
    """Write or edit the comment; returns what was done, in a line."""
    body = Path(file).read_text(encoding="utf-8")
    given = os.environ
    if "CI_API_V4_URL" in given:
        if not given.get("EYELEVEL_TOKEN"):
            return (
                "no comment: EYELEVEL_TOKEN is not set; make it a CI/CD variable with a project "
                f"access token of scope api, or read {file} in the job's artifact"
            )
        token = {"PRIVATE-TOKEN": given["EYELEVEL_TOKEN"]}
        project = f"{given['CI_API_V4_URL']}/projects/{given['CI_MERGE_REQUEST_PROJECT_ID']}"
        comments = f"{project}/merge_requests/{given['CI_MERGE_REQUEST_IID']}/notes"
        edited, method = comments, "PUT"
    else:
        token = {"Authorization": f"Bearer {given['GITHUB_TOKEN']}"}
        issues = f"{given['GITHUB_API_URL']}/repos/{given['GITHUB_REPOSITORY']}/issues"
        comments = f"{issues}/{given['PULL_REQUEST']}/comments"
        edited, method = f"{issues}/comments", "PATCH"
    old = find(comments, token, body.partition("\n")[0])
    if old is None:
        ask("POST", comments, token, body)
        return "wrote the comment"
    ask(method, f"{edited}/{old}", token, body)
    return f"edited comment {old}"


def find(comments: str, token: dict[str, str], marker: str) -> int | None:
    """Return the number of the first comment that begins with a line; None without one."""
    number = 0
    while True:
        number += 1
        listed = json.loads(ask("GET", f"{comments}?per_page={PAGE}&page={number}", token))
        for each in listed:
            if (each["body"] or "").startswith(marker):
                return int(each["id"])
        if len(listed) < PAGE:
            return None


def ask(method: str, url: str, token: dict[str, str], body: str | None = None) -> bytes:
    """Send a request, whose body is a comment's, and return the answer."""
    request = urllib.request.Request(
        url,
        data=None if body is None else json.dumps({"body": body}).encode(),
        headers={**token, "Content-Type": "application/json", "User-Agent": "eyelevel"},
        method=method,
    )
    try:
        with urllib.request.build_opener(NoRedirects).open(request, timeout=TIMEOUT_S) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        sys.exit(
            f"no comment: {method} {url} was answered with {error.code} {error.reason}; give the "
            "token the right to comment (GitHub: `pull-requests: write`, which pull requests from "
            "forks never have; GitLab: scope api, role Reporter)"
        )
    except OSError as error:
        sys.exit(f"no comment: {method} {url} failed: {error}; run the job again")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: comment.py FILE")
    print(main(sys.argv[1]))
