import Glibc
import IndoorVocabulary
import LocalizationSession

/// Reads plan images from the files of this machine, where venue sources put them.
public struct LocalImageReader: PlanImageReader {
    /// Creates a reader.
    public init() {}

    /// The bytes of the image at a path, read piece by piece.
    ///
    /// - Throws: `LocalizationError` with code `generic` if it cannot be read or has more than 512 MiB; `CancellationError`
    ///   when the task is cancelled.
    @concurrent public func image(
        at path: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> [UInt8] {
        do throws(VenueRepositoryError) {
            let file = try OpenFile(path, O_RDONLY)
            let size = try file.size()
            guard size <= InputLimits.standard.image else {
                throw .storage(path: path, reason: "\(size) bytes are no plan image")
            }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(size)
            progress(0)
            while let piece = try file.read() {
                if Task.isCancelled { throw .cancelled }
                bytes += piece
                // A file that grows meanwhile is no more than whole.
                if size > 0 { progress(min(1, Double(bytes.count) / Double(size))) }
            }
            return bytes
        } catch .cancelled {
            throw CancellationError()
        } catch {
            throw LocalizationError(code: .generic, message: "the plan image cannot be read: \(error)", kind: .storage)
        }
    }
}
