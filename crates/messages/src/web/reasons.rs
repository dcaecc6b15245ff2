//! Sentences of web/reasons.

messages! {
    begins_at = "begins at", "开始时间：";
    failed_tried_again_at = "failed; retry at", "失败，重试时间：";
}
