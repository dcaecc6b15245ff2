//! The handle through which all other code reaches the engine.

use crate::daemon::clock;
use crate::daemon::notices::Notices;
use crate::read_model::{ReadModel, Reader};
use crate::store::history::History;
use crate::store::{Deed, Environment, Extras, RecordChange, Store, StoreError};
use danlu_core::{Input, Refusal, Reply, State, TaskId, Time};
use danlu_messages::refusals::refusal;
use danlu_messages::{Language, errors};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How often a caller looks whether an array is complete: usually once for each slice of it.
const MOST_LOOKS: usize = 10_000;
const LOOK_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub struct Handle {
    inbox: Sender<Message>,
    reader: Reader,
    history: History,
    notices: Notices,
}

pub(crate) enum Message {
    Ask {
        input: Input,
        environment: Option<Environment>,
        /// The person to name in the audit log, if it is a person's request.
        by: Option<Asker>,
        reply: oneshot::Sender<EngineReply>,
    },
    /// Records that the core does not know.
    Keep { extras: Box<Extras>, reply: oneshot::Sender<EngineReply> },
    /// A message of a node. It gets no reply.
    Node(Input),
    /// A question that the read model cannot answer.
    Look(Question),
    /// The local node has been added: connect to it.
    ConnectLocal,
    /// Start nothing more: the server is about to stop.
    CloseQueue,
    /// Commit all messages so far, then end.
    Stop(oneshot::Sender<()>),
}

/// A person, for the audit log.
#[derive(Debug, Clone)]
pub struct Asker {
    pub name: String,
    /// `socket`, or the address of the other machine.
    pub origin: String,
}

/// There is no state while the store cannot be written.
pub(crate) type Question = Box<dyn FnOnce(Result<&State, &StoreError>, &Store, Time) + Send>;

pub type EngineReply = Result<Reply, AskError>;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AskError {
    #[error("{}", refusal(.0).0)]
    Refused(Refusal),
    #[error(transparent)]
    NotNow(#[from] NotNow),
}

impl From<Refusal> for AskError {
    fn from(refusal: Refusal) -> AskError {
        AskError::Refused(refusal)
    }
}

/// The server cannot do it at the moment. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", self.message())]
pub struct NotNow {
    english: (String, &'static str),
    chinese: (String, &'static str),
}

impl Handle {
    pub(crate) fn new(
        inbox: Sender<Message>,
        (reader, history): (Reader, History),
        notices: Notices,
    ) -> Handle {
        Handle { inbox, reader, history, notices }
    }

    /// Ended tasks that the read model does not have any more. Take the model before you ask it: what is live counts
    /// more, and nothing is missed.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What people have to know about the server itself.
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Returns when it is committed.
    pub async fn ask(&self, input: Input) -> EngineReply {
        self.begin(input, None, None).wait().await
    }

    /// On its way at once; several can be before the first is waited for. A submitted task has the environment that
    /// it is to run in.
    pub fn begin(
        &self,
        input: Input,
        environment: Option<Environment>,
        by: Option<Asker>,
    ) -> Asked {
        let (reply, answer) = oneshot::channel();
        // If the engine has ended, the reply is dropped and the answer says so.
        let _ = self.send(Message::Ask { input, environment, by, reply });
        Asked { answer }
    }

    /// Returns when all elements of an array that was accepted are there, for callers who look for them. They come
    /// also after it has given up waiting.
    pub(crate) async fn all_there(&self, first: TaskId) {
        let mut news = self.reader.news();
        for _ in 0..MOST_LOOKS {
            if !self.model().ledger.growing.contains_key(&first) {
                return;
            }
            self.follow();
            // A new state after a failed commit comes without news.
            let _ = timeout(LOOK_AGAIN, news.recv()).await;
        }
    }

    pub(crate) async fn keep(
        &self,
        changes: Vec<RecordChange>,
        deed: Option<Deed>,
    ) -> Result<(), NotNow> {
        let deeds = deed.into_iter().map(|deed| (clock::now(), deed)).collect();
        self.store(Extras { records: changes, deeds, ..Extras::default() }).await
    }

    /// What the core knows nothing of. Returns when it is committed.
    pub(crate) async fn store(&self, extras: Extras) -> Result<(), NotNow> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Keep { extras: Box::new(extras), reply })?;
        match answer.await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(AskError::NotNow(not_now))) => Err(not_now),
            Ok(Err(AskError::Refused(_))) | Err(_) => Err(NotNow::stopping()),
        }
    }

    pub(crate) fn tell(&self, input: Input) {
        // After the engine has ended, messages of nodes are dropped; the next engine asks for reports.
        let _ = self.inbox.send(Message::Node(input));
    }

    pub(crate) fn connect_local(&self) {
        let _ = self.send(Message::ConnectLocal);
    }

    /// Ask about the state as of the last commit, without waiting for the engine: why tasks wait, what users have used.
    pub(crate) fn consider<T>(&self, question: impl Fn(&State, Time) -> T) -> Result<T, NotNow> {
        let now = clock::now();
        self.reader.consider(|state| question(state, now)).ok_or_else(|| {
            NotNow::new(|| (errors::internal().to_owned(), errors::see_the_servers_log()))
        })
    }

    /// In the midst of many changes: what follows them need not do so all at once for who asks next.
    pub(crate) fn follow(&self) {
        let _ = self.reader.consider(|_| ());
    }

    /// Ask the engine itself. For single questions; lists come from the read model.
    pub async fn look<T: Send + 'static>(
        &self,
        question: impl FnOnce(&State, &Store, Time) -> T + Send + 'static,
    ) -> Result<T, NotNow> {
        let (reply, answer) = oneshot::channel();
        let look = move |state: Result<&State, &StoreError>, store: &Store, now| {
            let _ = reply.send(match state {
                Ok(state) => Ok(question(state, store, now)),
                Err(cause) => Err(NotNow::from(cause)),
            });
        };
        self.send(Message::Look(Box::new(look)))?;
        answer.await.unwrap_or_else(|_| Err(NotNow::stopping()))
    }

    /// Ask the store alone, which can be read also while it cannot be written.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store) -> T + Send + 'static,
    ) -> Result<T, NotNow> {
        let (reply, answer) = oneshot::channel();
        let look = move |_: Result<&State, &StoreError>, store: &Store, _| {
            let _ = reply.send(question(store));
        };
        self.send(Message::Look(Box::new(look)))?;
        answer.await.map_err(|_| NotNow::stopping())
    }

    pub fn model(&self) -> Arc<ReadModel> {
        self.reader.model()
    }

    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// From now on nothing is started.
    pub(crate) fn close_queue(&self) {
        let _ = self.send(Message::CloseQueue);
    }

    /// Returns when the engine has committed everything and ended.
    pub async fn stop(&self) {
        let (done, ended) = oneshot::channel();
        if self.send(Message::Stop(done)).is_ok() {
            let _ = ended.await;
        }
    }

    fn send(&self, message: Message) -> Result<(), NotNow> {
        self.inbox.send(message).map_err(|_| NotNow::stopping())
    }
}

/// A request that was sent to the engine.
#[derive(Debug)]
pub struct Asked {
    answer: oneshot::Receiver<EngineReply>,
}

impl Asked {
    pub async fn wait(self) -> EngineReply {
        self.answer.await.map_err(|_| NotNow::stopping())?
    }
}

impl NotNow {
    fn stopping() -> NotNow {
        NotNow::new(|| (errors::stopping().to_owned(), errors::start_again()))
    }

    /// `words` makes message and hint, in both languages because the reader is not known yet.
    pub(crate) fn new(words: impl Fn() -> (String, &'static str)) -> NotNow {
        NotNow {
            english: Language::English.within(&words),
            chinese: Language::Chinese.within(&words),
        }
    }

    pub fn message(&self) -> &str {
        &self.words().0
    }

    pub fn hint(&self) -> &'static str {
        self.words().1
    }

    fn words(&self) -> &(String, &'static str) {
        match Language::current() {
            Language::English => &self.english,
            Language::Chinese => &self.chinese,
        }
    }
}

impl From<&StoreError> for NotNow {
    fn from(error: &StoreError) -> NotNow {
        NotNow::new(|| (error.to_string(), error.hint()))
    }
}
