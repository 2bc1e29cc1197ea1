import MQTTSharing
import VenuePackets

/// Where records are uploaded to.
public enum UploadDestination: Hashable, Sendable {
    /// A web server, at whose address each batch is posted; any status from 200 to 299 confirms it.
    case web(VenueServer)
    /// An MQTT broker, on which each batch is published under a topic with quality of service 1; the broker confirms it.
    case broker(MQTTBroker, topic: String)
}

/// What carries a batch to a server: libcurl, libmosquitto, or a script in a test.
protocol UploadTransport: Sendable {
    /// Sends a batch once, and returns when it is confirmed.
    func send(_ batch: UploadBatch) async throws(UploadError)
}

/// Posts batches to a web server.
struct WebUpload: UploadTransport {
    let server: VenueServer

    func send(_ batch: UploadBatch) async throws(UploadError) {
        do throws(VenueRepositoryError) {
            // The key by which servers tell repetitions (draft-ietf-httpapi-idempotency-key-header).
            try await server.post(
                batch.body, type: "application/json", headers: ["Idempotency-Key: \"\(batch.id)\""])
        } catch { throw UploadError(error) }
    }
}

/// Publishes batches on a broker, over a connection for each.
struct BrokerUpload: UploadTransport {
    let broker: MQTTBroker
    let topic: String
    /// How long a broker may take to let the device in and to confirm the batch.
    var patience = Duration.seconds(20)

    func send(_ batch: UploadBatch) async throws(UploadError) {
        do throws(MQTTSharingError) {
            try await MQTTDelivery.deliver(
                MQTTMessage(topic: topic, payload: batch.body, quality: .atLeastOnce), to: broker, patience: patience)
        } catch { throw UploadError(error) }
    }
}

extension UploadError {
    /// What a failed delivery means for the batch.
    init(_ error: MQTTSharingError) {
        let kind: Kind =
            switch error {
            case .refusedCredentials, .missingPassword, .plainPassword, .forbidden, .badFile, .insecure: .refused
            default: .unreachable
            }
        self.init(kind, "\(error)")
    }
}
