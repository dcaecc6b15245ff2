"""What is asked for must not take from the asker what the rest of the run needs: names are learnt from answers."""

import os
import re

import schemathesis

OWN = set(os.environ["OWN"].split(","))
# A task that has ended: waiting for any other would take a minute.
ENDED = os.environ["ENDED"]
# What could be the name of a machine is the address of none.
MACHINE = re.compile(r"[A-Za-z0-9._%:@\[\]$-]+")
NOBODY = "nobody@127.0.0.1:1"


@schemathesis.hook
def before_call(context, case, kwargs):
    for name, value in (case.path_parameters or {}).items():
        if value in OWN and case.path.split("/")[1] in ("users", "tokens"):
            case.path_parameters[name] = "somebody-else"
    query = case.query if isinstance(case.query, dict) else {}
    if case.path == "/wait" and re.fullmatch(r"[0-9]{1,6}(,[0-9]{1,6})*", str(query.get("ids"))):
        query["ids"] = ENDED
    if case.path == "/nodes" and isinstance(case.body, dict):
        ssh = case.body.get("ssh")
        if isinstance(ssh, str) and MACHINE.fullmatch(ssh):
            case.body["ssh"] = NOBODY
