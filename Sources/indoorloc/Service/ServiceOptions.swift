import Foundation

extension ParsedArguments {
    /// The value of an option that is a number of seconds within `range`; `standard` if it was not given.
    func seconds(_ option: String, in range: ClosedRange<Double>, else standard: Double) throws(UsageError) -> Double {
        guard let text = value(option) else { return standard }
        guard let number = Double(text), range.contains(number) else {
            let bounds = [range.lowerBound, range.upperBound].map { bound in
                Int(exactly: bound).map(String.init) ?? "\(bound)"
            }
            let allowed = "a number of seconds from \(bounds[0]) to \(bounds[1])"
            throw UsageError(message: "--\(option) must be \(allowed), not '\(text)'", command: syntax.name)
        }
        return number
    }

    /// The recording that is to be heard instead of the radio; nil for none.
    ///
    /// - Throws: `UsageError` for options that mean nothing then, or without it.
    func replay() throws(UsageError) -> PacedRecording? {
        let start = Duration.seconds(try seconds("replay-from", in: 0...31_536_000, else: 0))
        guard let path = value("replay") else {
            guard has("replay-from") else { return nil }
            throw UsageError(message: "--replay-from needs --replay", command: syntax.name)
        }
        if let name = ["adapter", "route", "imu"].first(where: has) {
            let whose = name == "imu" ? "the machine's sensors" : "the radio"
            let message = "--\(name) is of \(whose), which --replay takes the place of; leave one of them out"
            throw UsageError(message: message, command: syntax.name)
        }
        return PacedRecording(path: Self.path(path), strictness: .strict, start: start)
    }

    /// Where a service keeps what it remembers: as it was told, as systemd says, or in the user's state.
    ///
    /// - Throws: `UsageError` if it was told to be nowhere.
    func stateDirectory() throws(UsageError) -> String {
        if let folder = value("state-directory") {
            guard folder.isEmpty else { return folder }
            throw UsageError(message: "--state-directory must be a folder, not ''", command: syntax.name)
        }
        let environment = ProcessInfo.processInfo.environment
        // A unit with several directories names them all, in its order.
        if let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/indoorloc" }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/.local/state/indoorloc"
    }
}
