//! One message is one line of JSON, of limited length.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Room for an environment as large as Linux takes one, with every byte escaped.
pub const FRAME_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug, Error)]
pub enum FrameError {
    #[error("a message is longer than {FRAME_BYTES} bytes")]
    TooLong,
    #[error("a message cannot be read: {0}")]
    Damaged(#[from] serde_json::Error),
}

/// The message with its line end.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut line = serde_json::to_vec(message)?;
    if line.len() >= FRAME_BYTES {
        return Err(FrameError::TooLong);
    }
    line.push(b'\n');
    Ok(line)
}

/// Puts frames together from pieces as they come.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// What lies before this has been given out.
    start: usize,
    /// What lies before this has no line end in it.
    searched: usize,
}

impl Decoder {
    pub fn feed(&mut self, piece: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(piece);
    }

    /// The next whole message. After an error the stream cannot be trusted any more.
    pub fn next_message<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        loop {
            let rest = &self.buffer[self.searched..];
            let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
                self.searched = self.buffer.len();
                let pending = self.buffer.len() - self.start;
                return if pending >= FRAME_BYTES { Err(FrameError::TooLong) } else { Ok(None) };
            };
            let end = self.searched + length;
            let line = &self.buffer[self.start..end];
            self.start = end + 1;
            self.searched = self.start;
            if line.len() >= FRAME_BYTES {
                return Err(FrameError::TooLong);
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(serde_json::from_slice(line)?));
            }
        }
    }
}
