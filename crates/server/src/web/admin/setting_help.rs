//! A one-sentence description of each setting.

use danlu_messages::web::admin as msg;

/// Nothing for one that has no words yet.
pub(super) fn about(key: &str) -> &'static str {
    match key {
        "archive.above" => msg::with_more_ended_tasks_than_this_the_oldest_go(),
        "archive.share" => msg::this_part_of_everybodys_then(),
        "auto_inside" => msg::among_one_users_tasks_those_that_are_likely(),
        "backfill" => msg::what_may_start_while_the_first_cannot_none(),
        "default_retries" => msg::of_tasks_that_do_not_say_how_often(),
        "fair.half_life" => msg::for_fair_after_this_long_use_counts_half(),
        "idle_delay" => msg::a_gpu_that_others_have_used_is_given_out_once(),
        "keep_gpu_memory" => msg::this_part_of_a_shared_gpus_memory_stays_free(),
        "keep_memory" => msg::a_machine_with_less_than_this_part_of_its(),
        "las_threshold" => msg::for_las_after_so_much_gpu_time_a_task_is_in(),
        "limits.open_tasks_per_user" => msg::tasks_of_one_user_that_have_not_ended_where(),
        "limits.log_size" => msg::bytes_that_are_kept_of_a_tasks_log_its(),
        "limits.log_bytes_per_user" => msg::bytes_of_logs_that_machines_keep_for_one_user(),
        "limits.max_tasks_per_gpu" => msg::tasks_that_share_one_gpu_by_its_memory(),
        "lost_after" => msg::what_ran_on_a_machine_that_was_away_for_so(),
        "max_extension" => msg::so_much_time_may_owners_add_to_a_limit_in_all(),
        "max_losses" => msg::so_often_is_a_task_begun_again_whose_machine(),
        "min_run_before_preemption" => msg::nothing_is_preempted_before_it_ran_so_long(),
        "placement" => msg::where_tasks_go_pack_the_fullest_machine(),
        "predictions" => msg::learn_from_ended_tasks_how_long_others_will(),
        "quota.over" => msg::a_task_over_its_quota_wait_or_refuse_it(),
        "quota.period" => msg::gpu_hours_are_counted_anew_after_this(),
        "quota.user.gpu_hours" => msg::of_each_user_in_a_period(),
        "quota.user.open_tasks" => msg::tasks_of_each_user_that_have_not_ended(),
        "quota.user.queued_tasks" => msg::waiting_tasks_of_each_user(),
        "quota.user.running_gpus" => msg::gpus_in_use_by_each_user(),
        "quota.user.running_tasks" => msg::running_tasks_of_each_user(),
        "reclaim_unused_memory" => msg::a_shared_task_that_has_settled_counts_as_what(),
        "requeue_lost" => msg::a_task_whose_machine_went_down_is_queued(),
        "reserve_after" => msg::after_waiting_so_long_gpus_that_come_free_are(),
        "restart_cost.above" => msg::work_that_preempting_more_than_8_gpus_costs(),
        "restart_cost.up_to_8_gpus" => msg::work_that_preempting_up_to_8_gpus_costs(),
        "retry_backoff" => msg::before_the_first_retry_twice_as_long_before(),
        "retry_backoff_max" => msg::but_no_longer_than_this(),
        "retry_on" => msg::failures_worth_a_retry_such_as_cuda_oom_nccl(),
        "settle_time" => msg::a_shared_task_that_has_not_grown_for_so_long(),
        "stop_grace" => msg::between_the_signal_to_a_task_and_the_end_of(),
        "visibility" => msg::all_everybody_sees_all_tasks_own_their_own(),
        _ => "",
    }
}
