import CCurl
import Dispatch
import IndoorVocabulary

/// Fetches files with libcurl, each on its own thread.
struct CurlTransport: PacketTransport {
    /// The largest number of consecutive redirects.
    static let redirects = 5

    let server: VenueServer

    func fetch(
        _ request: TransferRequest, _ receive: @escaping @Sendable (TransferHead, UnsafeRawBufferPointer) -> Bool
    ) async throws(TransferFailure) -> TransferHead {
        let stop = CurlStop()
        let server = server
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A separate queue has its own thread while it works, so that waiting doesn't block any task.
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

/// Stops a transfer on another thread immediately.
///
/// A class because the cancelling thread and the transfer share it.
final class CurlStop: Sendable {
    private struct State: Sendable {
        var isRequested = false
        /// The address of libcurl's handle while the transfer runs.
        var handle: UInt?
    }

    private let state = Guarded(State())

    /// Whether the transfer must stop.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Stops the transfer, even if it hasn't begun yet.
    func request() {
        state.withLock { state in
            state.isRequested = true
            if let handle = state.handle { curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: handle)) }
        }
    }

    /// Sets the handle to wake up; nil before the handle is freed.
    func setHandle(_ handle: UnsafeMutableRawPointer?) {
        let address = handle.map { UInt(bitPattern: $0) }
        state.withLock { $0.handle = address }
    }
}
