import BeaconScanning
import IndoorVocabulary
import VenueModel

/// A request to a venue source.
package enum VenueRequest: Hashable, Sendable {
    case catalogue
    case packet(VenueID)
}

/// An answer of a venue source.
package enum VenueAnswer: Sendable {
    case catalogue([VenueSummary])
    case catalogueFailed(LocalizationError)
    /// The fraction of a packet that has arrived.
    case progress(VenueID, Double)
    case packet(VenueID, Venue)
    case packetFailed(VenueID, LocalizationError)
}

extension VenueSource {
    /// Sends the answer to a request, for a packet preceded by its progress.
    func answer(_ request: VenueRequest, _ send: @escaping @Sendable (VenueAnswer) async -> Void) async {
        let answer: VenueAnswer
        switch request {
        case .catalogue:
            do { answer = .catalogue(try await catalogue()) } catch { answer = .catalogueFailed(failure(error)) }
        case .packet(let id):
            do {
                answer = .packet(id, try await packet(for: id, reporting: { await send(.progress(id, $0)) }))
            } catch {
                answer = .packetFailed(id, failure(error))
            }
        }
        await send(answer)
    }

    /// Returns the packet of a venue. Reports its progress in order beforehand, from any thread on which the source
    /// sends it.
    private func packet(
        for id: VenueID, reporting report: @escaping @Sendable (Double) async -> Void
    ) async throws -> Venue {
        let (fractions, continuation) = AsyncStream.makeStream(of: Double.self)
        let reporting = Task { for await fraction in fractions { await report(fraction) } }
        let result: Result<Venue, any Error>
        do { result = .success(try await packet(for: id, progress: { continuation.yield($0) })) } catch {
            result = .failure(error)
        }
        continuation.finish()
        await reporting.value
        return try result.get()
    }

    private func failure(_ error: any Error) -> LocalizationError {
        LocalizationError(reporting: error, code: .generic, "a venue request failed")
    }
}

extension CurrentTask {
    /// Sends a request to a venue source, which replaces the request before.
    ///
    /// - Parameter answer: receives an answer and the number of this task, which may have been replaced meanwhile.
    /// - Returns: the task, which ends after the last answer was handled.
    mutating func ask<Shell: Actor>(
        _ venues: any VenueSource, _ request: VenueRequest, for shell: Shell,
        answer: @escaping @Sendable (isolated Shell, VenueAnswer, Int) async -> Void
    ) -> Task<Void, Never> {
        begin { number in
            Task { [weak shell] in
                await venues.answer(request) { [weak shell] received in
                    if let shell { await answer(shell, received, number) }
                }
            }
        }
    }
}
