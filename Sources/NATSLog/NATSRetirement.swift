import CNATS
import IndoorVocabulary

/// The ended objects of a connection that libnats may still use.
///
/// For each message, the reading thread of libnats 3.4 gets the subscription from a table, and uses it after the table
/// is unlocked, without a reference (`natsConn_processMsg`). `natsSubscription_Destroy` frees a subscription at once,
/// even while that thread uses it. This object therefore frees a subscription that is no longer in the table only when
/// the thread can't use it any more: after the reply to a later request, which the same thread has read, or after the
/// connection's end, which waits for the thread.
///
/// The creation of each subscription begins with a request. Therefore no more objects wait than have existed at the
/// same time.
final class NATSRetirement: Sendable {
    private struct State: Sendable {
        var subscriptions: [NATSHandle] = []
        var contexts: [NATSHandle] = []
        var isConnectionClosed = false
    }

    private let state = Guarded(State())

    /// The number of subscriptions that wait.
    var count: Int { state.withLock(\.subscriptions.count) }

    /// Takes a subscription that is no longer in the table.
    func add(subscription: NATSHandle) {
        let isConnectionClosed = state.withLock { state in
            if !state.isConnectionClosed { state.subscriptions.append(subscription) }
            return state.isConnectionClosed
        }
        if isConnectionClosed { natsSubscription_Destroy(subscription.pointer) }
    }

    /// Takes a context. It may have a subscription, which libnats can't remove from the table without freeing it.
    func add(context: NATSHandle) {
        let isConnectionClosed = state.withLock { state in
            if !state.isConnectionClosed { state.contexts.append(context) }
            return state.isConnectionClosed
        }
        if isConnectionClosed { jsCtx_Destroy(context.pointer) }
    }

    /// Sends a request, and frees the subscriptions that ended before it if the server replies.
    ///
    /// - Parameter request: sends the request; throws if no reply arrives.
    func afterReply<Value>(_ request: () throws(NATSFailure) -> Value) throws(NATSFailure) -> Value {
        let ended = state.withLock { state in
            defer { state.subscriptions = [] }
            return state.subscriptions
        }
        do throws(NATSFailure) {
            let value = try request()
            for subscription in ended { natsSubscription_Destroy(subscription.pointer) }
            return value
        } catch {
            for subscription in ended { add(subscription: subscription) }
            throw error
        }
    }

    /// Frees all objects, now and later.
    ///
    /// - Precondition: The reading thread of the connection has ended.
    func closeConnection() {
        let (subscriptions, contexts) = state.withLock { state in
            defer { state = State(isConnectionClosed: true) }
            return (state.subscriptions, state.contexts)
        }
        for subscription in subscriptions { natsSubscription_Destroy(subscription.pointer) }
        for context in contexts { jsCtx_Destroy(context.pointer) }
    }
}
