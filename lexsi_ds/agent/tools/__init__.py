"""The tools, by name. Related ones stand together: this is the order in which a planner reads them."""

from __future__ import annotations

from lexsi_ds.agent.tools import (
    compare_schemas,
    connect_datalake,
    describe_dataset,
    explain_prediction,
    get_columns,
    inspect_data,
    list_data_connectors,
    list_datasets,
    list_documents,
    list_findings,
    predict,
    propose_finding,
    query_kg,
    read_document,
    read_rows_to_score,
    review_finding,
    run_sql,
    sample_values,
    summarize_result,
    text_to_sql,
    train_tabular_model,
)
from lexsi_ds.agent.tools.base import Tool

REGISTRY: dict[str, Tool] = {
    tool.spec.name: tool
    for tool in (
        connect_datalake.TOOL,
        inspect_data.TOOL,
        query_kg.TOOL,
        list_documents.TOOL,
        read_document.TOOL,
        list_data_connectors.TOOL,
        list_datasets.TOOL,
        describe_dataset.TOOL,
        get_columns.TOOL,
        compare_schemas.TOOL,
        list_findings.TOOL,
        propose_finding.TOOL,
        review_finding.TOOL,
        text_to_sql.TOOL,
        run_sql.TOOL,
        sample_values.TOOL,
        train_tabular_model.TOOL,
        read_rows_to_score.TOOL,
        predict.TOOL,
        explain_prediction.TOOL,
        summarize_result.TOOL,
    )
}
