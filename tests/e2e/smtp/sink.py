"""A mail server for tests: what it accepts is a file each in a directory. Prints its port."""

import argparse
import asyncio
import os
import ssl

from aiosmtpd.smtp import SMTP, AuthResult

parser = argparse.ArgumentParser()
parser.add_argument("directory")
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--tls", choices=["none", "starttls", "tls"], default="none")
parser.add_argument("--login", help="USER:PASSWORD, without which nothing is taken")
options = parser.parse_args()


class Sink:
    count = 0

    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        if address.startswith("nobody@"):
            return "550 5.1.1 there is no such mailbox"
        if address.startswith("later@") and not os.path.exists(f"{options.directory}/go"):
            return "451 4.3.0 come back later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        Sink.count += 1
        encrypted = server.transport.get_extra_info("ssl_object") is not None
        facts = f"X-Recipient: {','.join(envelope.rcpt_tos)}\r\nX-Encrypted: {encrypted}\r\n"
        path = f"{options.directory}/{Sink.count}"
        with open(f"{path}.part", "wb") as file:
            file.write(facts.encode() + envelope.original_content)
        os.rename(f"{path}.part", f"{path}.eml")
        return "250 2.0.0 taken"


def authenticate(server, session, envelope, mechanism, auth_data):
    given = f"{auth_data.login.decode()}:{auth_data.password.decode()}"
    return AuthResult(success=given == options.login, handled=False)


def server():
    context = None
    if options.certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(options.certificate, options.key)
    starttls = options.tls == "starttls"
    return context, lambda: SMTP(
        Sink(),
        tls_context=context if starttls else None,
        require_starttls=starttls,
        auth_required=bool(options.login),
        # It knows of STARTTLS only.
        auth_require_tls=bool(options.login) and starttls,
        authenticator=authenticate if options.login else None,
        enable_SMTPUTF8=True,
    )


async def main():
    context, make = server()
    implicit = context if options.tls == "tls" else None
    listening = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0, ssl=implicit)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


asyncio.run(main())
