import IndoorVocabulary
import TagTracking

/// A bounded queue between the threads that receive messages and the service that handles them.
///
/// New messages that don't fit are lost and counted, so that the memory of a service that is too slow doesn't grow.
package final class MessageQueue: Sendable {
    private struct Content {
        var messages: [GatewayMessage] = []
        var bytes = 0
        var lost = 0
    }

    /// The memory of a message in bytes in addition to topic and payload. It counts towards the capacity, so that many
    /// short messages need no more memory than few long ones.
    private static let overhead = 128

    /// The capacity in bytes, by default enough for several seconds of messages about 100,000 tags.
    private let capacity: Int
    private let content = Guarded(Content())

    /// Creates a queue.
    ///
    /// - Parameter capacity: the capacity in bytes of topics and payloads, with 128 bytes for each message.
    package init(capacity: Int = 64 << 20) { self.capacity = capacity }

    /// Appends a message, or counts it as lost.
    package func append(_ message: GatewayMessage) {
        if !offer(message) { content.withLock { $0.lost += 1 } }
    }

    /// Appends a message of a sender that can repeat it; returns false if it doesn't fit.
    package func offer(_ message: GatewayMessage) -> Bool {
        let size = message.topic.utf8.count + message.payload.count + Self.overhead
        return content.withLock { content in
            guard content.bytes + size <= capacity else { return false }
            content.bytes += size
            content.messages.append(message)
            return true
        }
    }

    /// Removes and returns all messages in the order of their arrival, and the number of messages lost since the last
    /// call.
    package func drain() -> (messages: [GatewayMessage], lost: Int) {
        content.withLock { content in
            defer { content = Content() }
            return (content.messages, content.lost)
        }
    }
}
