//! What is read from the file: messages that wait, those that were sent, and bundles.

use super::{BundleKey, Done, Outbox, Post, PostState};
use crate::notify::digest::Collected;
use crate::notify::lanes::Waiting;
use crate::notify::letter::{Letter, Matter};
use danlu_core::{Time, UserId};
use rusqlite::OptionalExtension as _;
use std::collections::BTreeMap;

impl Outbox {
    pub(crate) fn bundles(&self) -> Done<BTreeMap<BundleKey, (Option<UserId>, Collected)>> {
        let mut statement =
            self.connection.prepare("SELECT target, bundle, user, json FROM bundles")?;
        let mut rows = statement.query([])?;
        let mut found = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let (bundle, json): (String, String) = (row.get(1)?, row.get(3)?);
            let user = row.get::<_, Option<u32>>(2)?.map(UserId);
            let key = (row.get(0)?, serde_json::from_str(&bundle)?);
            found.insert(key, (user, serde_json::from_str(&json)?));
        }
        Ok(found)
    }

    pub(crate) fn waiting(&self) -> Done<Vec<(i64, Waiting)>> {
        let sql = "SELECT number, target, json, due, attempts, created FROM posts WHERE state = 0 ORDER BY number";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let letter: Letter = serde_json::from_str(&row.get::<_, String>(2)?)?;
            let waiting = Waiting {
                target: row.get(1)?,
                subject: letter.subject(),
                due: Time(row.get(3)?),
                attempts: row.get(4)?,
                since: Time(row.get(5)?),
            };
            found.push((row.get(0)?, waiting));
        }
        Ok(found)
    }

    pub(crate) fn post(&self, number: i64) -> Done<Option<Post>> {
        let sql = format!("SELECT {COLUMNS} FROM posts WHERE number = ?1");
        let found =
            self.connection.prepare_cached(&sql)?.query_row([number], read_row).optional()?;
        found.map(whole).transpose()
    }

    /// Newest first.
    pub(crate) fn posts(&self, failed: bool, limit: u32) -> Done<Vec<Post>> {
        let which = if failed { "WHERE state >= 2" } else { "" };
        let sql = format!("SELECT {COLUMNS} FROM posts {which} ORDER BY number DESC LIMIT ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map([limit], read_row)?;
        rows.map(|row| whole(row?)).collect()
    }
}

const COLUMNS: &str = "number, id, target, user, state, created, due, attempts, answer, json";

/// Without its content, which is read apart.
type PostRow = (Post, String);

fn read_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<PostRow> {
    let nothing = Letter { at: Time(0), matter: Matter::Dropped { count: 0 } };
    let post = Post {
        number: row.get(0)?,
        id: row.get(1)?,
        target: row.get(2)?,
        user: row.get::<_, Option<u32>>(3)?.map(UserId),
        state: PostState::stored(row.get(4)?),
        created_at: Time(row.get(5)?),
        due_at: Time(row.get(6)?),
        attempts: row.get(7)?,
        answer: row.get(8)?,
        letter: nothing,
    };
    Ok((post, row.get(9)?))
}

fn whole((post, json): PostRow) -> Done<Post> {
    Ok(Post { letter: serde_json::from_str(&json)?, ..post })
}
