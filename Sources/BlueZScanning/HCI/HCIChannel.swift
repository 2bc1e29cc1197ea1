import CBlueZ
import Dispatch

/// An open HCI socket whose packets are taken in as they come.
///
/// A class because the socket must stay open until its watch is over, and the watch calls back into it. What changes is
/// used on the queue of its scan only, and so without a lock.
final class HCIChannel: @unchecked Sendable {
    let socket: HCISocket
    private var watch: ReadinessWatch?
    private var buffer = [UInt8](repeating: 0, count: HCIChannel.longestPacket)

    /// The longest packet that passes the filters, an event or a command with 255 bytes, and more to be safe.
    private static let longestPacket = 1024
    /// Packets that are taken at a wake-up before others have their turn on the queue.
    private static let batch = 256

    init(_ socket: consuming HCISocket) { self.socket = socket }

    /// Begins to call back on the queue when packets wait.
    func watch(on queue: DispatchQueue, whenReady: @escaping @Sendable () -> Void) {
        // The handler that keeps the channel is gone as soon as it was called.
        watch = ReadinessWatch(
            socket.descriptor, on: queue, whenReady: whenReady, whenDone: { [self] in watch = nil })
    }

    /// Ends the watch and, once nobody looks at it any more, closes the socket.
    func cancel() { watch?.cancel() }

    /// Hands the packets that wait to `body`, each with its time of reception by the clock on the wall.
    ///
    /// - Returns: the error number if the socket is dead.
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
