#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks an OpenAI-compatible server: reads the prompt from standard input, prints the answer.

usage: openai_chat.py [--model NAME] [--base-url URL] [--timeout SECONDS] < prompt

Options go before the environment:
  OPENAI_BASE_URL   default http://localhost:11434/v1, which is Ollama's
  OPENAI_MODEL      the model's name; there is no default
  OPENAI_API_KEY    sent as a bearer token where it is set

Exit codes: 0 answered, 1 the server refused or gave no usable answer, 2 usage, 3 the server cannot be reached.
"""
import argparse
import http.client
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

DEFAULT_BASE_URL = "http://localhost:11434/v1"
MAX_ANSWER_BYTES = 8 * 1024 * 1024


class Failure(Exception):
    """What to tell the user, and the exit code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect could carry the key to another host."""

    def redirect_request(self, request, file, code, message, headers, url):
        return None


def read_arguments(arguments, environment):
    parser = argparse.ArgumentParser(prog="openai_chat.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS, allow_abbrev=False)
    parser.add_argument("--model", default=environment.get("OPENAI_MODEL", ""))
    parser.add_argument("--base-url", default=environment.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
    parser.add_argument("--timeout", type=float, default=290.0)
    given = parser.parse_args(arguments)
    if not given.model:
        raise Failure(2, "no model is named: set OPENAI_MODEL or give --model NAME")
    if urllib.parse.urlsplit(given.base_url).scheme not in ("http", "https"):
        raise Failure(2, f"the base URL must begin with http:// or https://, not {given.base_url!r}")
    if not given.timeout > 0:
        raise Failure(2, "--timeout must be more than 0 seconds")
    return given


def make_request(base_url, model, key, prompt):
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], "stream": False}
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return urllib.request.Request(base_url.rstrip("/") + "/chat/completions", json.dumps(body).encode(), headers, method="POST")


def message_of(body):
    """The server's own words about a failure."""
    text = body.decode("utf-8", "replace").strip()
    try:
        error = json.loads(text).get("error", "")
    except (ValueError, AttributeError):
        return text[:500]
    return str(error.get("message", error) if isinstance(error, dict) else error)[:500]


def ask(request, timeout):
    opener = urllib.request.build_opener(NoRedirects)
    try:
        with opener.open(request, timeout=timeout) as response:
            body = response.read(MAX_ANSWER_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise Failure(1, f"{request.full_url} answered {error.code} {error.reason}: {message_of(error.read(MAX_ANSWER_BYTES))}") from error
    except (OSError, http.client.HTTPException) as error:
        raise Failure(3, f"no connection to {request.full_url}: {getattr(error, 'reason', None) or error}") from error
    if len(body) > MAX_ANSWER_BYTES:
        raise Failure(1, f"the answer has more than {MAX_ANSWER_BYTES} bytes")
    return body


def text_of(body):
    try:
        choice = json.loads(body)["choices"][0]
        content = choice["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise Failure(1, f"the answer is no chat completion: {body[:200].decode('utf-8', 'replace')}") from error
    if not isinstance(content, str) or not content.strip():
        raise Failure(1, f"the answer holds no text (finish_reason: {choice.get('finish_reason')})")
    if choice.get("finish_reason") == "length":
        print("openai_chat: the server cut the answer off at its limit of output tokens", file=sys.stderr)
    return content


def main(arguments, environment):
    try:
        given = read_arguments(arguments, environment)
        prompt = sys.stdin.buffer.read().decode("utf-8")
        if not prompt.strip():
            raise Failure(2, "there is no prompt on standard input")
        request = make_request(given.base_url, given.model, environment.get("OPENAI_API_KEY", ""), prompt)
        print(text_of(ask(request, given.timeout)))
    except UnicodeDecodeError:
        print("openai_chat: the prompt is not UTF-8", file=sys.stderr)
        return 2
    except Failure as failure:
        print(f"openai_chat: {failure}", file=sys.stderr)
        return failure.code
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main(sys.argv[1:], os.environ))
