#ifndef CMATH_H
#define CMATH_H

#include "CMathConsensus.h"
#include "CMathFunctions.h"
#include "CMathMeetings.h"
#include "CMathParticles.h"
#include "CMathReceivers.h"
#include "CMathTables.h"
#include "CMathVectors.h"
#include "CMathWalls.h"

#endif
