//! Leases on buckets, which decide who delivers to which endpoints. They go by the database's clock.
//!
//! These tables belong to no merchant, so writes take no `Tx`: each is a single statement.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::Executor as _;
use sqlx::postgres::PgListener;
use tokio::time::timeout;
use uuid::Uuid;

use crate::connection::Found;
use crate::crash::{self, Point};
use crate::messages::buckets::bucket;
use crate::messages::holds::Hold;
use crate::placement::Placement;
use crate::{Failed, Store};

/// The result of renewing a deliverer's leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    pub holds: Vec<Hold>,
    /// The number of live deliverers, including this one.
    pub live: i64,
    /// The time on the database's clock.
    pub now: DateTime<Utc>,
}

/// A deliverer's description for people.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    /// Host name and process id.
    pub name: &'a str,
    /// The version of the program.
    pub version: &'a str,
    /// The number of calls in progress.
    pub calls: i32,
    /// False if it takes no buckets, so that the others share them all.
    pub takes_part: bool,
}

/// Marks `deliverer` as live, if it takes part, and renews all its leases.
pub async fn renew(store: &Store, deliverer: Uuid, seconds: f64, known: &Known<'_>) -> Result<Renewed, Failed> {
    let row = sqlx::query!(
        r#"
        with alive as (
            insert into deliverer (deliverer_id, live_until, name, calls, version)
            values ($1, now() + make_interval(secs => case when $5 then $2::float8 else 0 end), $3, $4, $6)
            on conflict (deliverer_id) do update
            set live_until = excluded.live_until, name = excluded.name, calls = excluded.calls, version = excluded.version
        ),
        -- In the order in which settling takes them, so that the two never wait for each other.
        ours as materialized (
            select bucket from delivery_bucket where owner = $1 order by bucket for update
        ),
        renewed as (
            update delivery_bucket set leased_until = now() + make_interval(secs => $2)
            from ours
            where delivery_bucket.bucket = ours.bucket
            returning delivery_bucket.bucket, delivery_bucket.epoch
        )
        select
            (select count(*) from deliverer where deliverer_id <> $1 and live_until > now()) as "others!",
            array(select bucket from renewed order by bucket) as "buckets!",
            array(select epoch from renewed order by bucket) as "epochs!",
            clock_timestamp() as "now!"
        "#,
        deliverer,
        seconds,
        known.name,
        known.calls,
        known.takes_part,
        known.version,
    )
    .fetch_one(&store.engine)
    .await?;
    crash::point(Point::LeasesRenewed);
    let holds = row.buckets.into_iter().zip(row.epochs);
    let holds = holds.map(|(number, epoch)| Ok(Hold { bucket: bucket(number)?, epoch, owner: deliverer }));
    Ok(Renewed { holds: holds.collect::<Result<_, Failed>>()?, live: row.others + 1, now: row.now })
}

/// Takes up to `most` buckets that nobody holds. A bucket whose former owner is still settling is left for the next time.
pub async fn take(store: &Store, deliverer: Uuid, most: i64, seconds: f64) -> Result<Vec<Hold>, Failed> {
    let rows = sqlx::query!(
        r#"
        update delivery_bucket
        set owner = $1, epoch = epoch + 1, leased_until = now() + make_interval(secs => $3)
        where bucket in (
            select bucket from delivery_bucket
            where owner is null or leased_until < now()
            order by bucket
            limit $2
            for update skip locked
        )
        returning bucket, epoch
        "#,
        deliverer,
        most,
        seconds,
    )
    .fetch_all(&store.engine)
    .await?;
    crash::point(Point::LeasesTaken);
    rows.into_iter().map(|row| Ok(Hold { bucket: bucket(row.bucket)?, epoch: row.epoch, owner: deliverer })).collect()
}

/// Releases buckets.
pub async fn release(store: &Store, deliverer: Uuid, buckets: &[u8]) -> Result<(), Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    crash::point(Point::Release);
    sqlx::query!(
        "update delivery_bucket set owner = null, leased_until = null where owner = $1 and bucket = any ($2::smallint[])",
        deliverer,
        &buckets,
    )
    .execute(&store.engine)
    .await?;
    crash::point(Point::Released);
    Ok(())
}

/// Signs `deliverer` off, so that the others can take its share at once.
pub async fn leave(store: &Store, deliverer: Uuid) -> Result<(), Failed> {
    crash::point(Point::Leave);
    sqlx::query!("update delivery_bucket set owner = null, leased_until = null where owner = $1", deliverer).execute(&store.engine).await?;
    sqlx::query!("delete from deliverer where deliverer_id = $1 or live_until < now() - interval '1 hour'", deliverer)
        .execute(&store.engine)
        .await?;
    crash::point(Point::Left);
    Ok(())
}

/// The number of processes that deliver at the moment.
pub async fn count_live(store: &Store) -> Result<i64, Failed> {
    let live = sqlx::query_scalar!(r#"select count(*) as "live!" from deliverer where live_until > now()"#);
    Ok(live.fetch_one(&store.engine).await?)
}

/// Ends every lease, so that whoever settles under one is refused, and removes every process. Nothing may be running.
pub async fn end_all(store: &Store) -> Result<(), Failed> {
    sqlx::query!("update delivery_bucket set owner = null, leased_until = null, epoch = epoch + 1").execute(&store.engine).await?;
    sqlx::query!("delete from deliverer").execute(&store.engine).await?;
    Ok(())
}

/// The number of messages that are owed, up to 10,000.
pub async fn count_owed(store: &Store) -> Result<i64, Failed> {
    let owed = sqlx::query_scalar!(r#"select count(*) as "owed!" from (select from delivery limit 10000) as owed"#);
    Ok(owed.fetch_one(&store.engine).await?)
}

/// Notifies the other processes of endpoints with work, one line each. Never call this inside a transaction.
pub async fn notify(store: &Store, lines: &[String]) -> Result<(), Failed> {
    crash::point(Point::Notify);
    send(store, lines).await?;
    crash::point(Point::Notified);
    Ok(())
}

async fn send(store: &Store, lines: &[String]) -> Result<(), Failed> {
    sqlx::query!(r#"select pg_notify($2, line) as "sent?" from unnest($1::text[]) as line"#, lines, &*store.channel)
        .fetch_all(&store.engine)
        .await?;
    Ok(())
}

/// What a listener waits for.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    Line(String),
    /// The cell is at another node now, where signals are sent from now on.
    Moved,
}

/// Receives the notifications of other processes. Those sent while the connection is broken are lost; the backstop finds
/// their work.
pub struct Listener {
    connection: PgListener,
    /// The place of a cell that may be on a cluster, and where it was when this began.
    place: Option<(Arc<Placement>, Found)>,
    /// The time within which the database must answer.
    limit: Duration,
}

impl Listener {
    /// Starts listening. Fails if the notifications of other connections do not arrive.
    pub async fn new(store: &Store) -> Result<Self, Failed> {
        let limit = store.limits.statement;
        let listening = async {
            let (pool, place) = store.listening().await?;
            let mut connection = PgListener::connect_with(&pool).await?;
            connection.eager_reconnect(false);
            connection.listen(&store.channel).await?;
            Ok::<_, Failed>(Self { connection, place, limit })
        };
        let mut listening = timeout(limit, listening).await.map_err(|_| silent())??;
        // A pooler in between may let us listen, and then pass nothing on.
        send(store, &[String::new()]).await?;
        match timeout(limit, listening.receive()).await {
            Ok(heard) => heard.map(drop)?,
            Err(_) => return Err(Failed::Unreachable("notifications do not arrive".to_owned())),
        }
        Ok(listening)
    }

    /// Waits for the next line, or until the cell has moved: signals arrive at the node at which they are sent. Fails if the connection is
    /// broken or the database no longer answers.
    pub async fn next(&mut self) -> Result<Heard, Failed> {
        let place = self.place.clone();
        let moved = async {
            match place {
                Some((placement, found)) => placement.leaves(&found).await,
                None => pending().await,
            }
        };
        tokio::select! {
            heard = self.hear() => heard.map(Heard::Line),
            () = moved => Ok(Heard::Moved),
        }
    }

    async fn hear(&mut self) -> Result<String, Failed> {
        loop {
            match timeout(self.limit, self.receive()).await {
                Ok(heard) => return heard,
                // Nothing to hear, or a dead connection: ask.
                Err(_) => timeout(self.limit, self.connection.execute("select")).await.map_err(|_| silent())?.map(drop)?,
            }
        }
    }

    async fn receive(&mut self) -> Result<String, Failed> {
        match self.connection.try_recv().await? {
            Some(notification) => Ok(notification.payload().to_owned()),
            None => Err(Failed::Unreachable("the connection for listening is closed".to_owned())),
        }
    }
}

fn silent() -> Failed {
    Failed::Unreachable("it did not answer in time".to_owned())
}
