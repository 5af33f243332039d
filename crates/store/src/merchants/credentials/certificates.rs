//! The client certificates that credentials are bound to.

use chrono::{DateTime, Utc};

use crate::{Failed, Store, Tx};

/// A client certificate that a credential is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCertificate {
    /// SHA-256 of the certificate in DER.
    pub fingerprint: Vec<u8>,
    pub expires_at: DateTime<Utc>,
}

/// The client certificates of a credential that has not been revoked, locked until the transaction ends. None if there is no such
/// credential.
pub async fn lock(tx: &mut Tx, client_id: &str) -> Result<Option<Vec<BoundCertificate>>, Failed> {
    let row = sqlx::query!(
        r#"
        select certificates, certificates_until
        from credential
        where merchant_id = $1 and client_id = $2 and revoked_at is null
        for update
        "#,
        tx.merchant().0,
        client_id,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(row.map(|row| bound(row.certificates, row.certificates_until)))
}

/// Binds a credential to these client certificates.
pub async fn save(tx: &mut Tx, client_id: &str, certificates: &[BoundCertificate]) -> Result<(), Failed> {
    let (fingerprints, ends) = columns(certificates);
    sqlx::query!(
        "update credential set certificates = $3, certificates_until = $4 where merchant_id = $1 and client_id = $2",
        tx.merchant().0,
        client_id,
        &fingerprints,
        &ends,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The number of credentials in use that are bound to client certificates.
pub async fn count_bound(store: &Store, now: DateTime<Utc>) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from credential
        where revoked_at is null and (expires_at is null or expires_at > $1) and cardinality(certificates) > 0
        "#,
        now,
    );
    Ok(count.fetch_one(&store.pool).await?)
}

/// Client certificates from their columns.
pub(super) fn bound(fingerprints: Vec<Vec<u8>>, ends: Vec<DateTime<Utc>>) -> Vec<BoundCertificate> {
    fingerprints.into_iter().zip(ends).map(|(fingerprint, expires_at)| BoundCertificate { fingerprint, expires_at }).collect()
}

/// The columns of client certificates.
pub(super) fn columns(certificates: &[BoundCertificate]) -> (Vec<Vec<u8>>, Vec<DateTime<Utc>>) {
    certificates.iter().map(|certificate| (certificate.fingerprint.clone(), certificate.expires_at)).unzip()
}
