"""What the fake platform answers at each address, and what it keeps: projects, files, tags, models, events."""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from tests.lexsi.fake_models import LinearModel, PlatformError, table_of

CLASSIC = ["XGBoost", "LGBoost", "CatBoost", "RandomForest", "LogisticRegression", "LinearRegression"]
FOUNDATION = ["TabPFN", "TabICL"]
Made = tuple[int, str, bytes] | dict | list


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    body: Any
    bearer: str | None
    filename: str | None = None
    content: bytes = b""


@dataclass
class Project:
    name: str
    fields: dict[str, Any]
    config: dict[str, Any] | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    models: dict[str, LinearModel] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    inferred: dict[str, pd.DataFrame] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)


class Routes:
    """One method an address; ``FakePlatform`` sets the scenario and serves them."""

    requests: list[Request]
    projects: dict[str, Project]
    connectors: list[dict[str, Any]]
    ending: str
    reason: str
    later_s: float
    deleted_files_are_gone: bool
    reads_events: bool
    proba: tuple[str, str]
    tamper: Callable[[pd.DataFrame], pd.DataFrame]
    shap_scale: str
    fractional_truth: bool
    classic: list[str]
    foundation: list[str]

    # -- sign-in and places ------------------------------------------------------------------------------------

    def on_organization_user_organization(self, r: Request) -> Made:
        mine = {"organization_id": "org-7", "name": "acme", "created_by": "ann", "created_at": "2026-01-01"}
        return {"success": True, "details": [mine], "current_user": {"username": "ann", "created_at": "2026-01-01"}}

    def on_users_workspaces(self, r: Request) -> Made:
        space = {"created_by": "ann", "user_workspace_name": "lab", "workspace_name": "lab_1", "created_at": "2026-01-01"}
        return {"details": [space]}

    def on_project_details_workspace(self, r: Request) -> Made:
        return {"success": True, "data": {"projects": [p.fields for p in self.projects.values()]}}

    def on_users_create_project(self, r: Request) -> Made:
        name = f"{r.body['project_name']}_77"
        fields = {
            "created_by": "ann", "project_name": name, "user_project_name": r.body["project_name"],
            "user_workspace_name": "lab", "workspace_name": r.body["workspace_name"],
            "metadata": {"modality": r.body["modality"], "project_type": r.body.get("project_type", "")},
        }
        self.projects[name] = Project(name, fields)
        return {"success": True, "details": fields}

    def on_project_server_types(self, r: Request) -> Made:
        return [{"name": "t3.large", "instance_name": "t3.large"}, {"name": "xlargeT4", "instance_name": "xlargeT4", "gpu": "T4"}]

    def on_users_automl_custom_servers(self, r: Request) -> Made:
        return {"details": [{"instance_name": "small"}, {"instance_name": "medium"}],
                "available_gpu_custom_servers": [{"instance_name": "T4.small"}]}

    # -- data --------------------------------------------------------------------------------------------------

    def on_users_get_xai_config(self, r: Request) -> Made:
        config = self.projects[r.query["project_name"]].config
        return {"details": json.loads(json.dumps(config)) if config else "Not Found"}

    def on_project_uploadfile_with_info(self, r: Request) -> Made:
        if not re.fullmatch(r"[A-Za-z0-9]+", r.query["tag"]):
            raise PlatformError("Tag must be alphanumeric")
        path = f"files/{r.filename}"
        self.projects[r.query["project_name"]].files[path] = r.content
        return {"success": True, "metadata": {"filepath": path}}

    def on_project_get_Uploaded_file_info(self, r: Request) -> Made:
        content = next(p.files[r.body["path"]] for p in self.projects.values() if r.body["path"] in p.files)
        return {"details": {"column_names": [str(c) for c in table_of(content).columns]}}

    def on_project_get_all_uploaded_files(self, r: Request) -> Made:
        files = self.projects[r.query["project_name"]].files
        return {"details": [{"filepath": p, "status": "active", "metadata": {}, "project_name": "p", "version": 1} for p in files]}

    def on_project_delete_data(self, r: Request) -> Made:
        if self.deleted_files_are_gone:
            del self.projects[r.body["project_name"]].files[r.body["path"]]
        return {"success": True, "details": "deleted"}

    def on_project_upload_data(self, r: Request) -> Made:
        project = self.projects[r.body["project_name"]]
        assert project.config is not None
        columns = table_of(project.files[r.body["path"]]).columns
        trains = "Prediction" in columns
        if project.config["true_label"] in columns and not trains:
            raise PlatformError("The file must not hold the true label")
        project.tags[r.body["tag"]] = r.body["path"]
        return {"success": True, "details": "Data uploaded"}

    def on_project_get_all_available_tags_info(self, r: Request) -> Made:
        project = self.projects[r.query["project_name"]]
        tags = list(project.tags)
        return {"success": True, "details": {"arya_tags": [], "user_tags": tags, "alltags": [*tags, *project.inferred]}}

    # -- training ----------------------------------------------------------------------------------------------

    def on_project_upload_data_with_check(self, r: Request) -> Made:
        project, metadata = self.projects[r.body["project_name"]], r.body["metadata"]
        if metadata["path"] not in project.files:
            raise PlatformError("File was deleted")
        project.tags[metadata["tag"]] = metadata["path"]
        project.config = {
            "project_type": project.fields["metadata"]["project_type"], "updated_by": "ann",
            **{name: r.body.get(name) for name in ("unique_identifier", "true_label", "pred_label")},
            "metadata": {**metadata, "avaialble_tags": [], "test_tags": [], "use_optuna": False},
        }
        kind = metadata.get("model") or "XGBoost"
        return self._train(project, project.config, metadata["tag"], metadata["feature_include"], kind)

    def on_users_xai_config_update(self, r: Request) -> Made:
        project, metadata = self.projects[r.body["project_name"]], r.body["metadata"]
        return self._train(project, r.body, metadata["tags"][0], metadata["feature_include"], metadata["model"])

    def _train(self, project: Project, config: dict[str, Any], tag: str, features: list[str], kind: str) -> Made:
        name = f"{kind}_v{len(project.models) + 1}"
        event = {"event_id": uuid.uuid4().hex, "event_name": "train_model", "status": "completed", "progress": 0,
                 "message": "Training done"}
        project.events.append(event)
        regression = project.fields["metadata"]["project_type"] == "regression"
        if self.ending == "failed":
            event |= {"status": "failed", "message": self.reason}
            return {"success": True, "details": "started", "event_id": event["event_id"]}
        model = LinearModel.fit(name, table_of(project.files[project.tags[tag]]), config, features, regression)

        def finish() -> None:
            project.models[name], project.status[name] = model, "active"
            event["status"] = "completed"

        if self.ending == "completed":
            finish()
        elif self.ending == "closed":
            event["status"] = "running"
            threading.Timer(self.later_s, finish).start()
        elif self.ending == "stalled":
            event["status"] = "running"
        return {"success": True, "details": "started", "event_id": event["event_id"]}

    def on_ai_models_get_all_models(self, r: Request) -> Made:
        project = self.projects[r.query["project_name"]]
        return {"success": True, "details": {
            "staged": [{"model_name": n, "status": s} for n, s in project.status.items()],
            "available": [{"model_name": n} for n in self.classic],
            "foundation_models": [{"model_name": n} for n in self.foundation],
        }}

    def on_events_fetch(self, r: Request) -> Made:
        if not self.reads_events:
            return 403, "application/json", b'{"details": "Only admins may read events"}'
        return {"success": True, "details": self.projects[r.body["project_name"]].events}

    # -- scoring and explaining --------------------------------------------------------------------------------

    def on_ai_models_run_model_on_data(self, r: Request) -> Made:
        project = self.projects[r.body["project_name"]]
        model = project.models[r.body["model_name"]]
        table = table_of(project.files[project.tags[r.body["tags"]]])
        values = model.scores(table)
        found = table.copy()
        name, of = self.proba
        if model.regression:
            found["Predicted_value_AutoML"] = values
        else:
            found["Predicted_value_AutoML"] = (values >= 0.5).astype(int)
            if name:
                found[name] = values if of == "positive" else np.maximum(values, 1 - values)
        project.inferred[f"{r.body['tags']}_{r.body['model_name']}_Inference"] = self.tamper(found.iloc[::-1])
        event = {"event_id": uuid.uuid4().hex, "event_name": "run_model_on_data", "status": "completed", "message": "Scored"}
        project.events.append(event)
        return {"success": True, "event_id": event["event_id"]}

    def on_ai_models_download_tag_data(self, r: Request) -> Made:
        if f"Bearer {r.query['token']}" != r.bearer:
            return 401, "application/json", b'{"details": "Token expired"}'
        found = self.projects[r.query["project_name"]].inferred[r.query["tag"]]
        return 200, "text/csv", found.to_csv(index=False).encode()

    def on_ai_models_get_case_info_components(self, r: Request) -> Made:
        project = self.projects[r.body["project_name"]]
        model = project.models[r.body["model_name"]]
        table = table_of(project.files[project.tags[r.body["tag"]]])
        row = table[table[model.key] == r.body["unique_identifier"]]
        shap = dict(zip(model.features, model.shap(row)[0].tolist(), strict=True)) if "shap" in r.body["xai"] else {}
        if self.shap_scale == "probability":
            total = sum(shap.values())
            middle = 1 / (1 + np.exp(-model.base))
            shap = {n: v / total * (float(model.scores(row)[0]) - middle) for n, v in shap.items()} if total else shap
        elif self.shap_scale == "junk":
            shap = {n: abs(v) / (1 + abs(v)) for n, v in shap.items()}
        details = {
            "status": "completed", "true_value": None if self.fractional_truth else "", "observations": [], "similar_cases": [],
            "pred_value": float(model.scores(row)[0]) if model.regression else 1, "pred_category": "1",
            "shap_feature_importance": shap, "similar_cases_data": model.nearest(row), "model_name": r.body["model_name"],
            "data_id": f"case-{r.body['unique_identifier']}", "audit_trail": {}, "data": {},
        }
        return {"success": True, "details": details}

    def on_agents_explainability_summary(self, r: Request) -> Made:
        return {"success": True, "details": "The balance speaks against it."}

    def on_project_get_model_perfermance(self, r: Request) -> Made:
        project = self.projects[r.query["project_name"]]
        model = project.models[r.query["model_name"]]
        importance = np.abs(model.shap(model.rows)).mean(axis=0).tolist()
        return {"success": True, "details": {
            "project_name": project.name, "project_type": "classification", "unique_identifier": model.key,
            "true_label": model.label, "metadata": {}, "is_automl": True, "Source": "Lexsi",
            "model_results": {"model_name": model.name, "GFI": {"shap_gfi": dict(zip(model.features, importance, strict=True))}},
        }}

    # -- connectors --------------------------------------------------------------------------------------------

    def on_linkservices_create(self, r: Request) -> Made:
        self.connectors.append({"_id": uuid.uuid4().hex, "link_service_name": r.query["link_service_name"],
                                "link_service_type": r.body["link_service_type"]})
        return {"success": True, "details": "created"}

    def on_linkservices_list(self, r: Request) -> Made:
        return {"success": True, "details": self.connectors}
