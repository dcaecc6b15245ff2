//! Alerts of users who wait for free GPUs: kept in the file, looked at when something has changed.

use super::Postman;
use crate::api::Api;
use crate::notify::expand::Addressed;
use crate::notify::letter::{Letter, Matter};
use crate::notify::outbox::{Outbox, OutboxBatch, OutboxError};
use crate::notify::when_free::{FreeWatch, MOST_WATCHES, WatchRow, WatchStep, free_gpus};
use danlu_core::{Time, UserId};
use rusqlite::params;
use tracing::warn;

impl Postman {
    /// `None` where it cannot be stored; `Some(None)` where the user has too many.
    pub(in crate::notify) fn add_watch(
        &mut self,
        user: UserId,
        watch: FreeWatch,
    ) -> Option<Option<i64>> {
        if self.watches.iter().filter(|row| row.user == user).count() >= MOST_WATCHES {
            return Some(None);
        }
        let id = self.outbox.as_ref()?.insert_watch(user, &watch).ok()?;
        self.watches.push(WatchRow { id, user, watch });
        self.look = true;
        Some(Some(id))
    }

    pub(in crate::notify) fn watches(&mut self) -> Option<Vec<WatchRow>> {
        Some(self.watches.clone())
    }

    pub(in crate::notify) fn remove_watch(&mut self, id: i64) -> Option<()> {
        self.outbox.as_ref()?.delete_watch(id).ok()?;
        self.watches.retain(|row| row.id != id);
        Some(())
    }

    pub(super) fn look_for_free_gpus(&mut self, api: &Api, now: Time) {
        if self.watches.is_empty() {
            return;
        }
        let free = free_gpus(&api.handle.model());
        for row in self.watches.clone() {
            let stored = match row.watch.step(&free) {
                WatchStep::Nothing => continue,
                WatchStep::Arm => self.set_armed(&row, true),
                WatchStep::Tell(free) => {
                    let matter = Matter::GpusFree { wanted: row.watch.wanted(), free };
                    let letter = Letter { at: now, matter };
                    let cause = format!("free.{}.{}", row.id, now.0);
                    let mut batch = OutboxBatch::default();
                    // Who asked wants to hear it.
                    for to in self.around(api, |around| around.person(row.user, |_| true)) {
                        let told = Addressed { cause: cause.clone(), to, letter: letter.clone() };
                        self.file(api, told, &mut batch, now);
                    }
                    self.commit(&batch, now);
                    match row.watch.always {
                        true => self.set_armed(&row, false),
                        false => self.remove_watch(row.id),
                    }
                }
            };
            if stored.is_none() {
                warn!(watch = row.id, "an alert cannot be stored: it may be told again");
            }
        }
    }

    fn set_armed(&mut self, row: &WatchRow, armed: bool) -> Option<()> {
        let watch = FreeWatch { armed, ..row.watch.clone() };
        self.outbox.as_ref()?.replace_watch(row.id, &watch).ok()?;
        let found = self.watches.iter_mut().find(|it| it.id == row.id)?;
        found.watch = watch;
        Some(())
    }
}

impl Outbox {
    pub(super) fn watches(&self) -> Result<Vec<WatchRow>, OutboxError> {
        let mut statement =
            self.connection().prepare("SELECT id, user, json FROM watches ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let watch = serde_json::from_str(&row.get::<_, String>(2)?)?;
            found.push(WatchRow { id: row.get(0)?, user: UserId(row.get(1)?), watch });
        }
        Ok(found)
    }

    fn insert_watch(&self, user: UserId, watch: &FreeWatch) -> Result<i64, OutboxError> {
        let sql = "INSERT INTO watches (user, json) VALUES (?1, ?2)";
        self.connection().execute(sql, params![user.0, serde_json::to_string(watch)?])?;
        Ok(self.connection().last_insert_rowid())
    }

    fn replace_watch(&self, id: i64, watch: &FreeWatch) -> Result<(), OutboxError> {
        let sql = "UPDATE watches SET json = ?2 WHERE id = ?1";
        self.connection().execute(sql, params![id, serde_json::to_string(watch)?])?;
        Ok(())
    }

    fn delete_watch(&self, id: i64) -> Result<(), OutboxError> {
        self.connection().execute("DELETE FROM watches WHERE id = ?1", [id])?;
        Ok(())
    }
}
