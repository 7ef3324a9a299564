"""The one exception of the package."""

# The names of the command's exit codes.
EXIT_CODES = {1: "failed", 2: "usage", 3: "not_found", 4: "unreachable", 5: "untrusted", 6: "timed_out", 7: "incompatible", 8: "partial",
              9: "invalid_input", 10: "storage"}

# What enginery_status numbers (enginery/enginery.h) are in those names.
STATUS_CODES = {1: "invalid_input", 2: "usage", 3: "not_found", 4: "invalid_input", 5: "failed", 6: "untrusted", 7: "untrusted", 8: "incompatible",
                9: "unreachable", 10: "timed_out", 11: "timed_out", 12: "storage", 13: "failed", 14: "failed", 100: "usage", 101: "usage", 102: "usage"}


class Error(Exception):
    """What failed: `code` is the name of the command's exit code for it, `message` one sentence."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code
        self.message = message
