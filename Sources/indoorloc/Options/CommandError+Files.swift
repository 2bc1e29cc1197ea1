import VenuePackets

extension CommandError {
    /// Runs file operations; the error has the path, the system's reason and advice.
    static func explaining(_ path: String, _ body: () throws -> Void) throws(CommandError) {
        do { try body() } catch {
            let reason = "cannot be written: \(error.systemReason)"
            throw CommandError(description: "\(path): \(reason). Check the path, its permissions and the free space.")
        }
    }
}
