import IndoorVocabulary
import VenueModel

extension Localizer {
    private enum Answer: Sendable {
        case place(LocatedPlace)
        case over(LocalizationError?)
        case late
    }

    /// Returns a single location of the device: the latest one if it is recent enough, otherwise the next one.
    ///
    /// If no session is running, this method starts one, or resumes a paused one. That session ends, or pauses again,
    /// with the last pending request, unless you call `start()` meanwhile.
    /// - Parameters:
    ///   - timeout: the longest time to wait for a location, on the clock of a live source. On a recording, the method
    ///     waits until the recording ends.
    ///   - maximumAge: the greatest age of a location that is returned at once; zero always waits for the next one.
    /// - Throws: `LocalizationError` of kind `positionUnavailable` if there is no location before the timeout or before
    ///   the source ends, of kind `cancelled` if the task is cancelled, or the error that ended the session.
    public func requestLocation(
        timeout: Duration = .seconds(10), maximumAge: Duration = .seconds(30)
    ) async throws(LocalizationError) -> LocatedPlace {
        let earlier = located?.place
        if let located, age(of: located) >= .zero, age(of: located) < maximumAge { return located.place }
        let (positions, outdoors, states) = (self.positions, outdoorPositions, self.states)
        let isOwn = state.isOver
        if isOwn { await beginForRequest() }
        requests += 1
        let alarm = alarm(after: timeout)
        let answer = await withTaskGroup(of: Answer?.self, returning: Answer?.self) { group in
            group.addTask { await positions.first { _ in true }.map { .place(.indoors($0)) } }
            group.addTask { await outdoors.first { _ in true }.map { .place(.outdoors($0)) } }
            group.addTask { await Self.end(of: states, afterStart: isOwn) }
            if let alarm { group.addTask { (try? await alarm()).map { .late } } }
            defer { group.cancelAll() }
            for await answer in group { if let answer { return answer } }
            return nil
        }
        let diagnosis = diagnosis
        requests -= 1
        if requests == 0 { await endForRequest() }
        switch answer {
        case .place(let place): return place
        case .over(let error?): throw error
        case .over(nil):
            // A recorded session ends right after its last position.
            if let place = located?.place, place != earlier { return place }
            throw Self.noLocation("the session ended before there was a position")
        case .late:
            throw Self.noLocation(
                "no position came within \(timeout.seconds) s, as \(diagnosis.clauseWithHelp)")
        case nil:
            throw LocalizationError(
                code: .generic, message: "the request for a position was cancelled", kind: .cancelled)
        }
    }

    /// Starts or resumes a session that ends with the last pending request.
    private func beginForRequest() async {
        let wasPaused = isPaused
        if wasPaused { await resume() } else { await start() }
        sessionOfRequests = wasPaused ? .resumed : .begun
    }

    /// Ends or pauses the session of the requests, unless the caller has started one meanwhile.
    private func endForRequest() async {
        switch sessionOfRequests.take() {
        case .begun: await stop()
        case .resumed: await pause()
        case nil: break
        }
    }

    private static func noLocation(_ message: String) -> LocalizationError {
        LocalizationError(code: .generic, message: message, kind: .positionUnavailable)
    }

    /// Waits for the end of a session; returns nil if the task is cancelled first.
    ///
    /// - Parameter afterStart: whether the first state is the one from before the session.
    private static func end(
        of states: AsyncStream<LocalizationState>, afterStart: Bool
    ) async -> Answer? {
        var isFirst = afterStart
        for await state in states {
            if case .error(let error) = state, !isFirst { return .over(error) }
            if state == .idle, !isFirst { return .over(nil) }
            isFirst = false
        }
        return nil
    }
}
