//! A one-sentence description of each setting.

use danlu_messages::web::admin as msg;

/// Nothing for one that has no words yet.
pub(super) fn about(key: &str) -> &'static str {
    match key {
        "archive.above" => msg::archive_above(),
        "archive.share" => msg::archive_fraction(),
        "auto_inside" => msg::short_first(),
        "backfill" => msg::backfill_rule(),
        "default_retries" => msg::of_tasks_that_do_not_say_how_often(),
        "fair.half_life" => msg::fair_half_life(),
        "idle_delay" => msg::idle_delay(),
        "keep_gpu_memory" => msg::keep_gpu_memory(),
        "keep_memory" => msg::keep_memory(),
        "las_threshold" => msg::las_threshold(),
        "limits.open_tasks_per_user" => msg::open_tasks_per_user(),
        "limits.log_size" => msg::log_bytes(),
        "limits.log_bytes_per_user" => msg::log_bytes_per_user(),
        "limits.max_tasks_per_gpu" => msg::tasks_per_gpu(),
        "lost_after" => msg::lost_after(),
        "max_extension" => msg::max_extension(),
        "max_losses" => msg::restarts(),
        "min_run_before_preemption" => msg::min_run_time(),
        "placement" => msg::placement(),
        "predictions" => msg::predictions(),
        "quota.over" => msg::over_quota(),
        "quota.period" => msg::quota_period(),
        "quota.user.gpu_hours" => msg::of_each_user_in_a_period(),
        "quota.user.open_tasks" => msg::open_tasks_each(),
        "quota.user.queued_tasks" => msg::waiting_tasks_of_each_user(),
        "quota.user.running_gpus" => msg::gpus_in_use_by_each_user(),
        "quota.user.running_tasks" => msg::running_tasks_of_each_user(),
        "reclaim_unused_memory" => msg::settled_counts_use(),
        "requeue_lost" => msg::requeue_after_failure(),
        "reserve_after" => msg::reserve_after(),
        "restart_cost.above" => msg::restart_cost_large(),
        "restart_cost.up_to_8_gpus" => msg::restart_cost_small(),
        "retry_backoff" => msg::retry_delay(),
        "retry_backoff_max" => msg::retry_delay_most(),
        "retry_on" => msg::retry_classes(),
        "settle_time" => msg::settle_time(),
        "stop_grace" => msg::stop_grace(),
        "visibility" => msg::visibility(),
        _ => "",
    }
}
