import IndoorLocalization
import MQTTSharing
import TagHistory
import TagTracking

/// The subscription to the outputs of a fleet on a broker. It reconnects with growing pauses.
///
/// The broker keeps the latest position and presence of each tag, which a new connection receives first. Positions and
/// events between two connections aren't repeated.
struct OutputSubscription: OutputSource {
    /// The time limit for the broker's answer.
    private static let patience = Duration.seconds(15)

    /// The largest packet, in bytes: many times that of an output.
    private static let largestPacket = 1 << 16

    private let broker: MQTTBroker
    private let filters: [String]

    /// Creates a subscription.
    ///
    /// - Parameter prefix: the prefix of the fleet's topics.
    init(_ broker: MQTTBroker, prefix: String) {
        self.broker = broker
        filters = ["position", "presence", "events"].map { "\(prefix)/tags/+/\($0)" }
    }

    func run(into store: HistoryStore, _ report: @escaping @Sendable (StoreRun.Event) -> Void) async {
        var backoff = Backoff(first: .seconds(1), seed: .random(in: .min ... .max))
        while !Task.isCancelled {
            let start = ContinuousClock.now
            guard let error = await connect(report, { store.add([$0]) }) else { return }
            if start.duration(to: .now) > .seconds(60) { backoff.reset() }
            report(.disconnected(error))
            guard (try? await Task.sleep(for: backoff.next())) != nil else { return }
        }
    }

    /// Receives outputs over one connection; returns the error that ended it, or nil if the task was cancelled.
    private func connect(
        _ report: @Sendable (StoreRun.Event) -> Void, _ give: @Sendable (FleetOutput) -> Void
    ) async -> MQTTSharingError? {
        // Each connection has a new name, because a broker ends an earlier connection with the same name.
        let name = "store" + String(UInt64.random(in: .min ... .max), radix: 36)
        let (link, events) = MQTTLink.open(
            broker, clientID: name, will: nil, keepAliveSeconds: 30, largestPacket: Self.largestPacket)
        let timeout = Task {
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
            link.abandon()
        }
        defer { timeout.cancel() }
        var granted = 0
        for await event in events {
            switch event {
            case .accepted: for filter in filters { link.ask(.subscribe(filter, .atLeastOnce)) }
            case .subscribed(let filter, isGranted: false):
                link.abandon()
                return .forbidden(topic: filter)
            case .subscribed:
                granted += 1
                guard granted == filters.count else { continue }
                timeout.cancel()
                report(.connected(to: broker.host))
            case .received(let message): receive(message, report, give)
            case .confirmed, .refused: break
            case .ended(let error): return error
            }
        }
        guard !Task.isCancelled else {
            link.ask(.close)
            return nil
        }
        if granted == filters.count { return .overrun(host: broker.host) }
        return .noAnswer(
            host: broker.host, port: broker.port,
            to: granted == 0 ? "to the connection request" : "to the subscription")
    }

    private func receive(
        _ message: MQTTMessage, _ report: (StoreRun.Event) -> Void, _ give: (FleetOutput) -> Void
    ) {
        // A retained message without content removes the message of a tag.
        guard !message.payload.isEmpty else { return }
        do throws(FleetOutputError) {
            give(try FleetOutput(json: message.payload))
        } catch {
            report(.invalid(topic: message.topic, error))
        }
    }
}
