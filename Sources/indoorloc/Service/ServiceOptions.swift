import Foundation

extension ParsedArguments {
    /// The value of an option that is a number of seconds within `range`; `standard` if it was not given.
    func seconds(_ option: String, in range: ClosedRange<Double>, else standard: Double) throws(UsageError) -> Double {
        guard let text = value(option) else { return standard }
        guard let number = Double(text), range.contains(number) else {
            let allowed = "a number of seconds from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError(message: "--\(option) must be \(allowed), not '\(text)'", command: syntax.name)
        }
        return number
    }

    /// Where a service keeps what it remembers: as it was told, as systemd says, or in the user's state.
    ///
    /// - Throws: `UsageError` if nothing says where.
    func stateDirectory() throws(UsageError) -> String {
        if let folder = value("state-directory") { return folder }
        let environment = ProcessInfo.processInfo.environment
        // A unit with several directories names them all, in its order.
        if let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/indoorloc" }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/.local/state/indoorloc"
    }
}
