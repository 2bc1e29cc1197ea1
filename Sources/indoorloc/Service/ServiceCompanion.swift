import IndoorLocalization

/// Something that runs beside a service's session, such as sharing its positions.
protocol ServiceCompanion: Sendable {
    /// Runs until the session is over: then the streams that it takes of the localizer end, and its task is cancelled.
    ///
    /// Called before the session begins, so that nothing is missed of streams that are taken before the first suspension.
    func run(beside localizer: Localizer) async
}
