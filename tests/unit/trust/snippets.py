"""Snippets of the protocol, as they are printed there."""

from __future__ import annotations

DECAY = """
confidence:
  method: decay
  decay_rate: 0.95  # Per hop
"""

CONSENSUS = """
confidence:
  method: consensus
  assessments:
    - agent: "code-analyzer"
      confidence: 0.85
    - agent: "security-reviewer"
      confidence: 0.92
  consensus_score: 0.88  # Weighted average
  conflict_level: 0.0    # Agreement
"""

CONFIDENCE_EVENT = """
- seq: 10
  type: fact_modified
  agent: "security-reviewer"
  data:
    id: "F1"
    text: "CONFIRMED: SQL injection vulnerability"
    confidence: 0.95
    reason: "verified_by_consensus"
    consensus:
      assessors: ["code-analyzer", "security-reviewer"]
      agreement: 1.0
"""

HANDOFF = """
handoff:
  fact_store: "memory://chain-001/facts"

  # Suggested queries (hints, not requirements)
  suggested_queries:
    - "SELECT * WHERE confidence >= 0.8"
    - "SELECT * WHERE source = 'security-reviewer'"
    - "SELECT * WHERE tag = 'critical'"
"""

AGENT_QUERY = '''
# Receiving agent queries the fact store
facts = fact_store.query("""
    SELECT * FROM facts
    WHERE confidence >= 0.7
    AND relevance('SQL injection') > 0.5
    ORDER BY confidence DESC
    LIMIT 10
""")
'''

CONTRACTS = """
contracts:
  code-analyzer:
    outputs:
      - type: fact
        required_fields: [id, text, confidence, source]
        confidence_min: 0.5

  security-reviewer:
    inputs:
      - type: fact
        required_fields: [id, text]
    outputs:
      - type: fact
        required_fields: [id, text, confidence, severity]
        severity_values: [low, medium, high, critical]
"""

VALIDATION = """
- seq: 15
  type: contract_validation
  agent: "system"
  data:
    contract: "security-reviewer"
    direction: "output"
    status: "passed"
    warnings: []
"""

TYPES = """
agent_types:
  executor:
    capabilities: [code_execution, file_access, tool_use]
    typical_tools: [bash, code_interpreter]

  analyzer:
    capabilities: [pattern_detection, static_analysis]
    typical_tools: [grep, ast_parser]

  reviewer:
    capabilities: [assessment, approval, critique]
    outputs: [confidence_score, severity_rating]

  planner:
    capabilities: [decomposition, prioritization, scheduling]
    outputs: [task_list, dependency_graph]

  researcher:
    capabilities: [search, synthesis, citation]
    typical_tools: [web_search, document_reader]
"""

PROFILE_EVENT = """
- seq: 1
  type: step_start
  agent: "security-reviewer"
  data:
    agent_profile:
      type: reviewer
      capabilities: [assessment, approval]
      model: "claude-3-opus"
      reliability_score: 0.92  # Historical accuracy
"""

ERRORS = """
error_taxonomy:
  input_error:
    - invalid_format: "Input doesn't match expected schema"
    - missing_context: "Required context not provided"
    - ambiguous_request: "Cannot determine intent"

  execution_error:
    - tool_failure: "Tool invocation failed"
    - timeout: "Operation exceeded time limit"
    - resource_exhausted: "Token/memory limit reached"
    - rate_limited: "API rate limit hit"

  output_error:
    - generation_failed: "LLM produced invalid output"
    - validation_failed: "Output doesn't meet constraints"
    - unsafe_content: "Output flagged by safety filters"

  orchestration_error:
    - routing_failed: "Could not determine next agent"
    - delegation_rejected: "Target agent refused task"
    - cycle_detected: "Infinite loop detected"
    - chain_depth_exceeded: "Maximum chain depth reached"
"""

ERROR_EVENT = """
- seq: 20
  type: error
  agent: "code-executor"
  data:
    category: "execution_error"
    type: "timeout"
    message: "Code execution exceeded 30s limit"
    recoverable: true
    suggested_action: "retry_with_timeout_increase"
    context:
      timeout_configured: 30000
      elapsed_ms: 30500
"""

MODELS = """
events:
  - seq: 5
    type: step_start
    agent: "planner"
    data:
      model:
        id: "gpt-4"
        role: "planning"

  - seq: 10
    type: step_start
    agent: "executor"
    data:
      model:
        id: "claude-3-opus"
        role: "execution"

  - seq: 15
    type: model_routing
    agent: "orchestrator"
    data:
      decision: "route_to_opus"
      reason: "code_generation_task"
      alternatives_considered: ["gpt-4", "claude-3-sonnet"]
      confidence: 0.85
"""
