"""Resources of the MCP server: each dataset's manifest, as describe_dataset has it. Must never: list what a person may not see.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio.to_thread
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from lexsi_ds.application import Application
from lexsi_ds.errors import InvalidCursor, LexsiError
from lexsi_ds.server.visible import as_json, visible
from lexsi_ds.services.access import Actor

_URI = re.compile(r"^lexsi://datasets/(ds_[0-9a-f-]{36})/manifest$")
_JSON = "application/json"
_PAGE = 100


class Resources:
    """Lists and reads them."""

    def __init__(self, app: Application, actor_of: Callable[[Any], Actor]) -> None:
        self._app, self._actor_of = app, actor_of

    async def list(self, ctx: Any, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """One page of the datasets that the caller can see."""
        cursor = params.cursor if params is not None else None
        read = partial(self._app.datasets.list_datasets, self._actor_of(ctx), limit=_PAGE, cursor=cursor)
        try:
            page = await anyio.to_thread.run_sync(read)
        except InvalidCursor as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except LexsiError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        found = [
            Resource(name=visible(d["name"])[:128], uri=f"lexsi://datasets/{d['id']}/manifest", mime_type=_JSON,
                     description="What is known of this dataset: texts, components, accepted findings.")
            for d in page["datasets"]
        ]
        return ListResourcesResult(resources=found, next_cursor=page.get("nextCursor"))

    async def templates(self, ctx: Any, params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        """The form of their addresses."""
        return ListResourceTemplatesResult(resource_templates=[ResourceTemplate(
            name="dataset manifest", title="Manifest of a dataset", uri_template="lexsi://datasets/{datasetId}/manifest",
            description="What is known of a dataset: texts, components, accepted findings.", mime_type=_JSON,
        )])

    async def read(self, ctx: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
        """One manifest. What is not there and what one may not see are told alike."""
        uri = str(params.uri)
        found = _URI.fullmatch(uri)
        try:
            if found is None:
                raise MCPError(INVALID_PARAMS, "There is no such resource.", {"uri": uri[:200]})
            read = partial(self._app.datasets.describe_dataset, self._actor_of(ctx), found[1])
            body = await anyio.to_thread.run_sync(read)
        except LexsiError:
            raise MCPError(INVALID_PARAMS, "There is no such resource.", {"uri": uri[:200]}) from None
        text = json.dumps(as_json(body), ensure_ascii=False)
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=_JSON, text=text)])
