//! Sentences of web/reasons.

messages! {
    begins_at = "begins at", "开始时间：";
    retry_at = "failed; retry at", "失败，重试时间：";
}
