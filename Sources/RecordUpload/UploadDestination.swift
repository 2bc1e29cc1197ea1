import MQTTSharing
import VenuePackets

/// The destination of uploaded records.
public enum UploadDestination: Hashable, Sendable {
    /// A web server that receives each batch as a POST request; any status from 200 to 299 confirms it.
    case web(VenueServer)
    /// An MQTT broker to which each batch is published under a topic.
    ///
    /// The quality of service is 1, so the broker confirms each batch.
    case broker(MQTTBroker, topic: String)
}

/// The transport of a batch to a server: libcurl, libmosquitto, or a script in a test.
protocol UploadTransport: Sendable {
    /// Sends a batch once, and returns when it is confirmed.
    func send(_ batch: UploadBatch) async throws(UploadError)
}

/// A transport that posts batches to a web server.
struct WebUpload: UploadTransport {
    let server: VenueServer

    func send(_ batch: UploadBatch) async throws(UploadError) {
        do throws(VenueRepositoryError) {
            // Servers detect duplicates by this key (draft-ietf-httpapi-idempotency-key-header).
            try await server.post(
                batch.body, type: "application/json", headers: ["Idempotency-Key: \"\(batch.id)\""])
        } catch { throw UploadError(error) }
    }
}

/// A transport that publishes each batch to a broker over a separate connection.
struct BrokerUpload: UploadTransport {
    let broker: MQTTBroker
    let topic: String
    /// The time limit for the broker to accept the connection and to confirm the batch.
    var patience = Duration.seconds(20)

    func send(_ batch: UploadBatch) async throws(UploadError) {
        do throws(MQTTSharingError) {
            try await MQTTDelivery.deliver(
                MQTTMessage(topic: topic, payload: batch.body, quality: .atLeastOnce), to: broker, patience: patience)
        } catch { throw UploadError(error) }
    }
}

extension UploadError {
    /// Creates the upload error for a failed delivery.
    init(_ error: MQTTSharingError) {
        let kind: Kind =
            switch error {
            case .refusedMessage(_, reason: .quotaExceeded): .unreachable
            case .refusedCredentials, .missingPassword, .plainPassword, .forbidden, .badFile, .insecure,
                .refusedMessage:
                .refused
            default: .unreachable
            }
        self.init(kind, "\(error)")
    }
}
