import CCurl
import Dispatch
import IndoorVocabulary

/// Fetches files with libcurl, each on a thread of its own.
struct CurlTransport: PacketTransport {
    /// Redirects that are followed in a row.
    static let redirects = 5

    let server: VenueServer

    func fetch(
        _ request: TransferRequest, _ receive: @escaping @Sendable (TransferHead, UnsafeRawBufferPointer) -> Bool
    ) async throws(TransferFailure) -> TransferHead {
        let stop = CurlStop()
        let server = server
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A queue of its own has a thread of its own while it works: waiting there keeps no task from running.
                DispatchQueue(label: "venue transfer").async {
                    continuation.resume(
                        returning: CurlTransfer.run(request, from: server, stop: stop, receive: receive))
                }
            }
        } onCancel: {
            stop.request()
        }
        return try result.get()
    }
}

/// Tells a transfer on another thread to end, at once.
///
/// A class, as whoever cancels and the transfer share it.
final class CurlStop: Sendable {
    private struct State: Sendable {
        var isRequested = false
        /// The address of libcurl's handle while the transfer runs.
        var handle: UInt?
    }

    private let state = Guarded(State())

    /// Whether the transfer is to end.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Ends the transfer, also one that has not begun yet.
    func request() {
        state.withLock { state in
            state.isRequested = true
            if let handle = state.handle { curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: handle)) }
        }
    }

    /// Takes in the handle that is to be woken; nil before it is freed.
    func watch(_ handle: UnsafeMutableRawPointer?) {
        let address = handle.map { UInt(bitPattern: $0) }
        state.withLock { $0.handle = address }
    }
}
