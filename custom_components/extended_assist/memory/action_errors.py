"""Errors of what people do with facts by themselves, in their language."""

from collections.abc import Iterator
from contextlib import contextmanager

from homeassistant.exceptions import ServiceValidationError

from ..calls.policy import NotAllowedError
from ..const import DOMAIN
from ..results import ToolError
from ..storage import NotStoredError
from .editing import NoFactError
from .fact import MAX_FACTS, MAX_OF_ONE, MAX_WORDS
from .store import FullError, FullOfOneError


def refusal(key: str, **values: object) -> ServiceValidationError:
    """Return an error that tells what to do instead."""
    placeholders = {name: str(value) for name, value in values.items()}
    return ServiceValidationError(translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders)


@contextmanager
def translated() -> Iterator[None]:
    """Raise errors for a person in place of those for a model."""
    try:
        yield
    except NotAllowedError as err:
        raise refusal("fact_not_allowed") from err
    except FullOfOneError as err:
        raise refusal("facts_full_of_one", limit=MAX_OF_ONE) from err
    except FullError as err:
        raise refusal("facts_full", limit=MAX_FACTS) from err
    except NotStoredError as err:
        raise refusal("fact_not_stored") from err
    except NoFactError as err:
        raise refusal("fact_unreadable", place=err.place, limit=MAX_WORDS) from err
    except ToolError as err:
        raise refusal("fact_over") from err
