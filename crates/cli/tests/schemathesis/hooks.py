"""What is asked for must not take from the asker what the rest of the run needs: names are learnt from answers."""

import os

import schemathesis

OWN = set(os.environ["OWN"].split(","))


@schemathesis.hook
def before_call(context, case, kwargs):
    for name, value in (case.path_parameters or {}).items():
        if value in OWN and case.path.split("/")[1] in ("users", "tokens"):
            case.path_parameters[name] = "somebody-else"
