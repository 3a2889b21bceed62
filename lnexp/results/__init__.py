"""Results: tables, verdicts and provenance from run folders. Nothing here trains."""
