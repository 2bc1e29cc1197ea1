import CBlueZ
import Dispatch

/// An open HCI socket that is read whenever packets arrive.
///
/// A class because the socket must stay open until its watch has ended, and the watch calls back into it. `@unchecked
/// Sendable` because its mutable state is used only on the queue of its scan, and so needs no lock.
final class HCIChannel: @unchecked Sendable {
    let socket: HCISocket
    private var watch: ReadinessWatch?
    private var buffer = [UInt8](repeating: 0, count: HCIChannel.longestPacket)

    /// The size of the receive buffer in bytes. The longest packet that passes the filters is an event or a command
    /// with 255 bytes of parameters; the rest is a margin.
    private static let longestPacket = 1024
    /// The largest number of packets read at a wake-up, so that other work on the queue isn't delayed.
    private static let batch = 256

    init(_ socket: consuming HCISocket) { self.socket = socket }

    /// Starts to call `whenReady` on the queue whenever packets wait.
    func watch(on queue: DispatchQueue, whenReady: @escaping @Sendable () -> Void) {
        // The handler retains the channel, and is released after its call.
        watch = ReadinessWatch(
            socket.descriptor, on: queue, whenReady: whenReady, whenDone: { [self] in watch = nil })
    }

    /// Ends the watch. The socket closes when the watch has ended.
    func cancel() { watch?.cancel() }

    /// Passes the waiting packets to `body`, each with its time of reception on the wall clock in nanoseconds.
    ///
    /// - Returns: The error number if the socket has failed; otherwise nil.
    func drain(_ body: (Span<UInt8>, Int64) -> Void) -> Int32? {
        for _ in 0..<Self.batch {
            var wall: Int64 = -1
            let count = buffer.withUnsafeMutableBufferPointer { bytes in
                cbluez_receive(socket.descriptor, bytes.baseAddress, bytes.count, &wall)
            }
            guard count >= 0 else { return count == Int(-HCIErrorNumber.nothingWaits) ? nil : Int32(-count) }
            body(buffer.span.extracting(0..<count), wall)
        }
        return nil
    }
}
