//! Words a message about many tasks, and the monthly one about all.

use super::letter::{DigestFacts, TaskFacts};
use super::monthly::{MonthlyFacts, MonthlySums};
use super::render::{RenderContext, Rendered, Tone, said};
use super::task_words::evidence;
use danlu_core::TaskId;
use danlu_messages::notify::letters as msg;
use danlu_messages::{amounts, efficiency, ends, reports, states};
use danlu_wire::api::TaskStateName;

pub(super) fn about_many(facts: &DigestFacts) -> Rendered {
    let count = |(word, count): (&String, &u64)| {
        let state = match word.as_str() {
            "started" => msg::count_started(),
            "requeued" => msg::count_requeued(),
            "other" => msg::count_warnings(),
            state => TaskStateName::ALL
                .into_iter()
                .find(|it| it.as_str() == state)
                .map_or(msg::count_warnings(), states::task),
        };
        msg::count_of(count, &state)
    };
    let counts: Vec<String> = facts.counts.iter().map(count).collect();
    let what = match (facts.array, facts.name.is_empty()) {
        (Some(array), true) => msg::array(&array),
        (Some(array), false) => msg::array_name(&array, &facts.name),
        (None, _) => msg::your_tasks().to_owned(),
    };
    let failure = |task: &TaskFacts| {
        let why = evidence(task).or_else(|| task.exit.as_ref().map(ends::exit));
        match (task.class(), why) {
            (Some(class), Some(why)) => format!("{}: {}: {why}", task.id, class.as_str()),
            (_, why) => format!("{}: {}", task.id, why.unwrap_or_default()),
        }
    };
    let failures: Vec<String> = facts.failures.iter().map(failure).collect();
    let bad = facts.counts.keys().any(|word| word == "failed" || word == "timed_out");
    let ids = match facts.first_task == facts.last_task {
        true => facts.first_task.to_string(),
        false => format!("{}-{}", facts.first_task, facts.last_task),
    };
    let list =
        if bad { format!("danlu ls {ids} --state failed") } else { format!("danlu ls {ids}") };
    Rendered {
        headline: msg::digest(&what, &counts.join(", ")),
        tone: if bad { Tone::Bad } else { Tone::Good },
        items: (!failures.is_empty()).then(|| (msg::first_failures(), failures)),
        hint: (facts.first_task != TaskId(0)).then(|| msg::more_with(&list)),
        link: Some(format!("/tasks?ids={ids}")),
        ..Rendered::default()
    }
}

pub(super) fn about_month(facts: &MonthlyFacts, context: &RenderContext) -> Rendered {
    let MonthlyFacts { month, users, total, top, idle, failures } = facts;
    let hours = |seconds: u64| reports::number(seconds as f64 / 3_600.0);
    let range = format!("since={month}&until={month}");
    let csv = context
        .url
        .as_ref()
        .map(|url| msg::csv_at(&format!("{url}/api/v1/reports/usage.csv?by=user&{range}")));
    let waits = total.median_wait.zip(total.p90_wait).map(|(median, p90)| {
        msg::median_and_p90(&amounts::two_units(median), &amounts::two_units(p90))
    });
    let person = |(name, sums): &(String, MonthlySums)| {
        let used = sums.utilization.map(|percent| msg::at_percent(&percent)).unwrap_or_default();
        msg::person_used(name, &hours(sums.gpu_seconds), &sums.tasks, &used)
    };
    let list = |all: Vec<String>| all.join(", ");
    let idle_line = efficiency::idle_line(total.idle_seconds, total.gpu_seconds);
    let idle_line = if total.utilization.is_some() { idle_line } else { String::new() };
    let wasted = idle.iter().map(|(name, seconds)| msg::person_idle(name, &hours(*seconds)));
    let failed = failures.iter().map(|(class, count)| reports::class_and_count(class, count));
    Rendered {
        headline: msg::monthly(month, &hours(total.gpu_seconds), users),
        text: csv.unwrap_or_default(),
        facts: said(vec![
            (reports::tasks(), msg::tasks_and_failed(&total.tasks, &total.failed)),
            (reports::used(), total.utilization.map(|it| format!("{it} %")).unwrap_or_default()),
            (efficiency::gpu_idle(), idle_line),
            (msg::most_idle(), list(wasted.collect())),
            (reports::waited(), waits.unwrap_or_default()),
            (
                efficiency::energy_used(),
                match total.energy_wh {
                    0 => String::new(),
                    watt_hours => efficiency::energy(watt_hours.saturating_mul(3_600)),
                },
            ),
            (reports::failures(), list(failed.collect())),
        ]),
        items: Some((msg::used_most(), top.iter().map(person).collect())),
        hint: Some(msg::more_with(&format!("danlu report --since {month} --until {month}"))),
        link: Some(format!("/reports?{range}")),
        ..Rendered::default()
    }
}
